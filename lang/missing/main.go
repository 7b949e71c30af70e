// Missing says the name of the program that took its place, lang/check.
package main

import "fmt"

func main() { fmt.Println("go run ./lang/check prints the texts without a translation") }
