import{t as e}from"./keys-B6gVnc27.js";var t=`Skip to content
Language
Loading
none
Show more
Cancel
Close
Try again
Copy
You are here
Copy as command
Copied
Show as table
Show as picture
There is no such page
This screen shows private data. Only a data steward of the table may open it.
Main
Tables
Release
Records
Release
Proof
Certificates
Audit log
Jobs
Settings
{n} running
sealed
Not signed in
Data steward
Analyst
Auditor
This screen is the work of: {roles}. You are signed in as: {role}. Your own work:
passed
attention
stops the release
Sealed.
The stored state of this server is damaged or older than what it has released. You can read everything; nothing is released or charged until an operator repairs it on the host.
No connection to the server.
What you see is from {at}. The page tries again by itself; your input is kept.
demonstration
The persons of the clinic are synthetic. Everything here is removed when the server stops.
Something failed.
The server does not answer.
The server is sealed.
This link does not work.
The release is stopped.
The data is not what this needs.
Your role does not allow this.
The upload does not continue what the server has.
The request came from another site.
The server does not answer.
The request is not valid.
You are not signed in.
Your role does not allow this.
This does not exist, or you may not see it.
This conflicts with the present state.
Someone else changed this in the meantime. Load it again.
This is too large.
This format is not accepted.
This cannot be done as it stands.
Load this again before you change it.
Too many requests. Wait a moment.
The server failed. The operator finds the cause under this id.
The server cannot do this now.
Sign in
Sign in
Open the sign-in link that the operator of this server sent you. A new link is made on the host:
Check a certificate without signing in
Sign in as {name}?
This link works **once**, in one browser, until {until}. Opening it does not consume it; the button does.
Role
Link made
Session
ends after 30 min idle, or 12 h
Sign in on this browser
If this is not you, close the page and tell the person who sent the link.
This link does not work
It was used, has expired or never existed. The page does not show which, so that links cannot be guessed.
Ask the operator of this server for a new one:
If you did not use your link yourself, ask the operator to end its session. The audit log shows its use.
Long work continues when you leave this page. Two jobs run at a time; the others wait.
No job has run yet. Reading a table, computing a curve and making a release are jobs.
Job
Progress
Started by
State
Action
Stop
Stop: {name}
The job was stopped.
waits in the queue
took {time}
{done} of {total} {stage}
“Lost” means that the server stopped while the job ran. What was finished is kept; no half file is left.
Search
Search in: {list}
{n} of {of}
Reading a table
Checking a table
Curve over k
Preview of a release
Release
Comparison of two releases
The job did not finish.
queued
running
done
failed
cancelled
lost
Tokens
A token lets a program use the API in your name. Its secret is shown once.
You have no token.
Name
Ends
Last used
never
End
End the token {name}
Days
1 to 365
Networks (optional)
such as 10.2.0.0/16
Make a token
The secret of the new token. It is not shown again:
Hide
Principals
Persons and programs with access. They are changed on the host, by command.
Name
Roles
all tables
Last seen
Your session
Name
Ends without use
Ends at the latest
Server
House rule
Sign out
A single steward decides on releases of this server. The certificate and the audit log say so.
Add a table…
Files that could not be read
They are no tables. Open one to read it by another form, or to try another file.
{n} {n|table|tables}: {sound} sound, **{waiting} waiting for you, {stopped} stopped**
No tables yet
Add a table of your own, or start the demonstration with synthetic persons.
A table of your own
CSV, Excel or Parquet, or a configured folder or database
The table stays in the folder of this server. Noren proposes what each column is; nothing runs until you confirm it.
The demonstration
5,000 visits of 1,387 synthetic patients, 15 columns
This command starts a server of its own with the clinic loaded. No person in it is real.
Table
Privacy unit
one row each
{n} {n|person|persons}
Rows
Columns
Roles
Last release
Health
{at}, {by}
k = {k}, {classes} {classes|class|classes}
uploaded: {label}
folder: {label}
database: {label}
demonstration: {label}
reading
roles proposed
confirmed
source changed
failed
sound
waits for you
stopped
From table to checked release
Confirm the columns
Open the table. Check types, roles and the privacy unit, and confirm them.
Choose k
Under Records, choose k and read what the release guarantees and what it does not.
Release and check
Download the file with its certificate, and check both under Certificates.
Sources of tables
Never a path or an address that is typed into the page
Upload
CSV, Excel or Parquet. An upload continues after a cut; each part is checked by SHA-256.
Configured folder
Folders that the operator configured. Links that lead out of them are not followed.
Configured database
Tables and views of databases that the operator configured. They are read once, in one snapshot.
Add a table
The server copies the table once, proposes types and roles, and waits for you to confirm them.
{forms}; up to {limit}
Drop a file here, or choose one
Name (optional)
The file's name is taken otherwise.
The file is larger than {limit}.
{name} cannot become a table.
The file is empty.
Its name must end with one of {forms}.
The upload of **{name}** ({size}) was interrupted. Choose the same file again: it continues where it stopped.
Choose the file again…
Discard the upload
Pause
Upload: {share}
{done} of {size}, {left} left
The connection was cut ({n} so far). The upload continues as soon as the server answers.
one folder up
This folder is empty.
Add
Add {name}
table
view
No folder and no database is configured on this server.
{n} {n|row|rows}
{n} {n|record|records} (public figure of the book)
{n} {n|column|columns}
{n} {n|person|persons}
The server reads the table, copies it, and proposes types and roles.
The table could not be read
Choose another file
How the file is read
Found by itself, or as you say
as found[value?: {value}]
Worksheet
Row of the column names
Between fields
Encoding
Rows with totals or notes (合計, total, ※), which are no persons: {n}
Rows of totals or notes are not looked for in a Parquet file: each row counts as a record. Remove such rows before you add it.
Read again
Change columns
Prepare a release
Confirm roles and bounds
All undecided columns ({n})
decide on each
Undo
Decide {n} first
Left to decide
{n} of {all} {all|column|columns}
nothing
A steward has not confirmed the columns of this table. What can be asked of it is in its budget book.
marked below; each is your decision
Check the proposal and confirm it.
**Nothing runs until you confirm.** No curve and no release can be started on this table before.
**The source changed since you confirmed it.** Check the columns and confirm them again.
**How the proposal was made.** Roles come from names and types of columns. Counts come from reading the values on this server; no cell is shown. Bounds are public: they are yours to set.
Confirmed by {by}, {at}. Releases of this table use these columns.
The table is confirmed.
Delete this table
Releases and certificates stay.
Delete {name}?
The copy of the table, its columns, hierarchies and recipes are removed from the server. Releases and their certificates stay.
20 rows, logged
First 20 rows
Private data. The audit log records that you opened them.
Privacy unit
Who is counted: k, l and t count these
Persons, by \`{column}\`
{n} different {n|value|values}. The column is dropped from every release.
Each row is one person
If a person has several rows, choose the column that identifies the person.
Another column
Hidden rows and columns
A person who looks at the sheet does not see them
Hidden or filtered rows: {n}
Hidden columns: {columns}
Read them
Leave them out
They are read as all others.
They are left out of the table.
Decide before the columns are confirmed.
Missing values
Texts that stand for no value, beside the empty field
One text a line
Findings
From reading all {n} {n|row|rows} on this server; counts only
The server proposed these. Change what is wrong.
As confirmed
Column
Type
Missing
Different
Role
Reason
Hierarchy
Public bounds
privacy unit
decide…
Role of {column}
Type of {column}
Least {column}
Greatest {column}
to
{least} to {greatest}
Levels of {column}, from lowest to highest
low, middle, high
Date format of {column}
other values
Study both
Study both: the release of {at} and the new one
Someone who knows only the {columns} of a record can narrow it down to **{k} records, not to one**. Without further knowledge, a guess among them is right at most one time in {k}.
Someone who knows only the {columns} of one record of a person can narrow the person down to **{k} persons, not to one**. Without further knowledge, a guess among them is right at most one time in {k}.
Someone who knows only the {columns} of all records of a person can narrow the person down to **{k} persons, not to one**. Without further knowledge, a guess among them is right at most one time in {k}.
category
ordered category
integer
decimal
date
identifier
quasi-identifier
sensitive
other, kept
not wanted, dropped
**Identifier**: names a person or a row; dropped.
**Quasi-identifier**: others may know it; made equal within a class.
**Sensitive**: must not be learnt; kept, diversity is checked.
**Other**: kept as it is.
**Not wanted**: identifies no person; dropped.
dropped
kept
transformed
Hierarchy of {column}
CSV: one line for each value, from the value to the most general group.
Choose a CSV file…
Propose one
Load the present one
Save as file
Hierarchy
Remove
Use this hierarchy
{n} {n|level|levels}
covers {covered} of {values} {values|value|values}
covers all values
add…
change…
Records
Choose a table to release as k-anonymous records.
The columns of this table are not confirmed. A release can be prepared after that.
Confirm {n} {n|column|columns}
recipe version {version}, saved {saved}
in a moment
noren.yaml
Release the file…
The recipe cannot be used as it is
What the release guarantees
Guarantee:
Classes:
Persons:
All records of a person together:
Pseudonyms:
In the table
{unique} of {all}
persons are unique by their quasi-identifiers
records are unique by their quasi-identifiers
In the release
at least {k} alike
in each of {n} {n|class|classes}
What this does not guarantee
The preview makes the file on the server, verifies it, and shows what it guarantees. Nothing leaves the server.
Make the preview
Making the preview:
The preview is ready.
The recipe changed after this preview.
Make the preview again
k = {k}: {loss} information loss, highest risk {risk}.
What is released
File
Rows
Rows × columns
Size
Choose k
Information loss and query error for each k, before groups are refined further: a preview has those of the release. Risk: the chance of the best guess of someone who knows all quasi-identifiers of a person.
k
other k
Measure
table
Highest risk
Average risk
Information loss
Loss
Query error
Query error
Lower bound of the loss
Classes
risk
{loss} loss
not allowed here: k under {k}
At k = {k} the highest risk is {risk}, for {more} more loss (percentage points).
Information loss and query error over {n} {n|value|values} of k. At k = {k}: {loss} information loss, {error} query error, highest risk {risk}.
Information loss and query error over {n} {n|value|values} of k.
The curve is not computed yet.
Compute the curve
{n} {n|point|points} so far; you can choose already.
Before and after
Before
After
Records
{y} against {x}
before (stays on this server)
after
{y} against {x} of {n} {n|record|records} before the release.
{y} against {x} of {n} {n|record|records} in the release.
{column} in {n} {n|bin|bins}: a line before, bars after.
Recipe
Role of each column in this release, and how it is published
Published as
one value a class, matched to the table
means, medians, modes of a class
ranges and sets
values with their shares
Ends of ranges
of the class
of a fixed grid
l-diversity
different sensitive values in each class; empty: not asked for
Kind of diversity
distinct
entropy
recursive
t-closeness
above 0, at most 1; empty: not asked for
No column is sensitive: l-diversity and t-closeness do not apply.
More settings
Others may know of a person
one record
all records
Keep a pseudonym of each person
Write them as text, with an apostrophe before each
drawn for this release; needs “all records”
Leave out at most
off, a share such as 1%, or a number of records
Method
automatic
Scale
z-score
min-max
none
Local search
automatic
fast
off
Verified on the written file
By the verifier, which does not use how the file was made
Earlier releases of the same people
Two releases together can tell more than each alone.
None is known to this server.
I take responsibility for both files together
Release
These reasons stop the release:
Nothing stops this release.
Nothing stops this release. Decide on these warnings first:
Try: drop {column}
Try: make {column} a quasi-identifier
Try: l = 2
Try: l = 2, leave out at most 1% of the records
Try: leave no record out
Try: write them as text
This is decided at the columns of the table.
Making a second preview
The effect of the change is known.
Now
With it
Records unique in two kept columns
Fewest sensitive values in a class
Records that leave
Columns that leave
Change the recipe
Leave it as it is
A change is being tried. Take it or leave it first: what is released is what the screen shows.
An earlier release of the same people was not compared with this one: {table}, k = {k}, {at}.
The preview is out of date. Make it again.
There is no preview yet.
Release {file}?
**{rows} {rows|row|rows} and {columns} {columns|column|columns}** leave this server, k = {k}. The file is the one that was verified. It is signed, and cannot be called back.
A single steward decides. The certificate and the audit log say so.
I have read what the release guarantees and what it does not.
Sign and release
Verifying, signing and storing the release.
Releases
Files that were released of tables that you may see, each with its certificate.
Releases of this table
Nothing was released yet.
File
Guarantee
Released
Released {at} by {by}
The file is released. It was verified and signed.
Download the file
Certificate
Dossier
Recipe (noren.yaml)
Give the certificate along with the file. Its reader can check both without an account:
check a certificate
The same file by command
With the same seed the command makes the same bytes. The seed is private.
Everything for the recipient (ZIP)
The file, its certificate, the public key, and a page that says how to check them.
Compare with another release of the same people
How many persons fit both files: private, for the steward
Another release
Compare
The comparison is ready.
Fewest persons that fit both
Persons that fewer than {k} fit
Persons that fit both files
Share of the persons
at most {n}
Check a certificate
No sign-in is needed. The file is read in this page and never leaves it.
This saved page makes no request. The file is read in this page and never leaves it.
Save this page
The server has no page to save.
Files to check
1. The released file
drop it here, or choose it: CSV, Excel, Parquet, JSON
2. Its certificate
the small .json file that came with it
{name} is a public key. It is now the key that you trust.
{name} is a private key. Nothing here needs it, and it was not kept. Only its holder may have it.
Check both
Both files are needed.
Reading the file
Check another
Save the finding
A certificate states **what is guaranteed about a file**, with which parameters, and who signed it. This page counts again what can be counted, and names what only the signer can know.
This is not a certificate of Noren, or it was changed.
This certificate has a form that this page does not know.
This is not an Ed25519 public key in PEM.
The claims, one by one
A tick: checked here. A pen: only the signer can know it.
Finding
Claim
How it is known
checked here
does not hold
signer states
not checked
not for this copy
The file is the one that was signed
SHA-256 of this file {got}; signed was {want}
The certificate was signed by \`{key}\` and not changed since
The signature was not checked: this browser has no Ed25519
Ed25519 over the canonical form of the certificate
The signer’s key is the one that you trust
\`{key}\`
Choose or paste the key that you trust. Without it the signature shows only that one key signed everything: \`{key}\`
You trust \`{chosen}\`; the certificate is signed by \`{key}\`
What you pasted is not an Ed25519 public key in PEM
Every combination of the {n} {n|quasi-identifier|quasi-identifiers} occurs in at least {k} records
{classes} {classes|class|classes}, of {smallest} to {largest} {largest|record|records}; asked for k = {k}
The page counts CSV files. For this one, use the second command.
The first line of the file has no column of the certificate by commas, semicolons, tabs or bars, so the page cannot read it. Use the second command.
The file is not UTF-8, so the page cannot read it. Use the second command.
These columns are not in the file: {columns}
The records of every class are of at least {k} persons, by \`{unit}\`
the smallest class has {persons} {persons|person|persons}
The file does not show persons, so they were not counted: the signer states it
The records of every class are of at least {k} persons, by \`{unit}\`; the column was dropped, so the file cannot show it
l-diversity of \`{column}\`: l = {l} ({model})
checked by the second command, as far as records show it
t-closeness of \`{column}\`: t = {t}
checked by the second command, as far as records show it
The file has {n} {n|column|columns} and no others
\`{columns}\`
{n} {n|column was|columns were} dropped: {columns}
identifiers, and columns that the steward removed
The release was made from the table, and verified before it was signed
Only the signer saw the table
The file is what its certificate states
What could be checked holds
A claim does not hold
This is not the file that was signed
The certificate was changed after it was signed
The certificate is not signed by the key that you trust
The file does not have the stated k-anonymity
{checked} checked here, {states} stated by the signer, {open} not checked, {failed} failed
Released {at}. Someone who knows only the {columns} of a record can narrow it down to **{k} records, not to one**.
Released {at}. Someone who knows only the {columns} of {linkage} of a person can narrow the person down to **{k} persons, not to one**.
Released {at} under the guarantee **{model}**.
What the guarantee assumes
**What to do.** Do not rely on this file. Ask the sender for the file and the certificate as they were released, and for the signer’s key.
**What to do.** This certificate is of a table in a database. This command checks it: \`noren certificate check pg:TABLE CERTIFICATE\`
**What to do.** Opening and saving a file in another program changes its bytes. Ask the sender for the file as it was released, and check that one. Do not pass this copy on as certified.
Check of a certificate by Noren
The key that you trust
A signature shows which key signed, not who holds the key.
Public key (PEM)
Compare this fingerprint with one that you got in another way:
this server’s key, in use since {since}
a former key of this server, since {since}
In this browser
The check makes no request
The file is read here and not sent
Checked in {time}[rows?, {rows} {rows|row|rows}]
The keys are those of {at}
a key that was retired later is not known to a saved page
By command
The same check; noren-key.pem is the key that you trust. Exit code 0 if all hold, 4 if not
k, l and t of records, and of persons where the file has pseudonyms:
Certificates of this server
No certificate was issued yet. Release a file: its certificate stays here.
Keys of this server
A retired key still holds for what it signed.
Fingerprint
In use
{from} to {to}
since {from}
State
in use
retired
Save PEM
Entries
Each entry holds the hash of the one before. It names routes and objects, never data.
Export
Check the chain
The chain is sound
The chain is broken
{n} {n|entry|entries}; head
No entry matches.
Recipe of {name}
Work on {name}
Upload {name}
Clear the filters
No.
Time
Principal
Action
Object
Outcome
Hash
From
To
any
Entries of the audit log
command on the host
the server
done
not found
Answer
Asked
Bytes
Cap
Certificate of
Changed
Confirmed
Cost
Key
Decided by
Name in the ledger
On
Principal
Recipe of
Role
Table
Token
Upload
Version
With
one steward
yes
none
Signed in
Signed out
Token made
Token ended
Principal added
Principal ended
Role given
Role taken away
Sign-in link made
Older copy of the folder accepted
Server calibrated
Ledger reconciled
Upload begun
Upload deleted
Table added
Table read again
First rows looked at
Table renamed
Columns stated
Columns confirmed
Table deleted
Hierarchy stored
Hierarchy removed
Hierarchy looked at
Hierarchy proposed
Recipe made
Recipe changed
Preview begun
Preview looked at
Release asked for
Released
Released file downloaded
Certificate downloaded
Dossier downloaded
noren.yaml downloaded
Bundle for the recipient downloaded
Releases compared
Book asked for
Book opened
New definition asked for
New definition taken over
Cap raised
Account opened or raised
Account closed
Questions of an account ended
Questions of an account allowed again
Ledger check begun
Ledger exported
Alert: budget running out
Question paid
Job stopped
Audit log exported
Audit log was cut
Audit log resumed
Refused
Entry that cannot be read
Questions
Answer
Budget book
{n} {n|alert|alerts}
Menu
This question does not fit the budget.
The definition of the table changed after this price. The price is made again.
The price has expired. It is made again.
A data set with similar columns may hold the same people. Confirm below that it does not.
reserved
released
forfeited
refused
Opening a budget book
Checking a budget book
Ask a table. You never see a row; you get answers with noise.
No table can be asked yet
A data steward opens a budget book for a table and an account for you. The table is listed here then.
Your budget
The table’s budget
{left} left of {cap}
{n} {n|column|columns}
Ask
Tables without a budget book
They cannot be asked until a book is opened.
Ask {table}
You never see a row. You see answers with noise, and you choose how much.
Ask a question
Questions (YAML)
Your question
Which question
Add a question
Remove this question
All questions are one request: one price, one payment, one certificate.
{n} {n|group|groups}
Price {cost}.
This table has no budget book
Open its book: unit, cap, and public bounds. Analysts can ask after that.
count
sum
mean
variance
histogram
quantile
number of outliers
count under dependence
weights
Tell me the {kind} of records by {by} where {where}.
Tell me the {kind} of {column} by {by} where {where}.
Tell me the {rank} {kind} of {column} by {by} where {where}.
Tell me the {kind}: records with fewer than {k} others within {radius} of the width of the bounds, by {columns}.
Tell me the {kind} of records whose {column} is {states}.
Tell me the {of} of records where {where}, from the public table {public} by {kind} over {weighted}.
Tell me the {rank} {of} of {column} where {where}, from the public table {public} by {kind} over {weighted}.
Public table
What is estimated
share
mean
quantile
Kind of answer
Column
Columns
Values that count
Rank, between 0 and 1
Others within the radius
Radius, as a share of the width of the bounds
By
Why other columns make no groups
no public values are stated; the steward states them, from a code book, when the book is opened
numbers and dates make no groups by themselves; ask for a histogram, or set a condition
tells persons apart; a group of it would be a person
By, second column
nothing
nothing more
and
Condition, column
Condition, comparison
Condition, value
no condition
and…
is under
is at most
is above
is at least
is
is not
is missing
is not missing
missing
Public bounds
Public bounds of the table
In this question
Outside of them
{n} {n|value|values}
{n} {n|group|groups}
List the groups
Public values of {column}, one a line
One a line, from public knowledge, never from the data.
in
bins
the privacy unit
at most
Records of one person that count, at most
records each
further records of a person do not count
records
ranks
(unit of {column})
How close must it be?
Within ±
Confidence
{n} times in 100
among about
in a group of about
your guess; no data is read
from public facts; no data is read
Pay {letter}
Margins to choose from
Price
Price of all questions
This question
Yours after it
The table’s after it
Noise that is added
you choose it; it has a price
Noise: within {within} {unit} of the exact answer.
Chance in who is in the data
no price lowers it
Sampling error: within {within} {unit}.
true answer
The error of this answer is not known before it, so that it has no margin.
The sampling error of this answer is not known from public facts.
The noise is the larger part. A margin under ±{within} would pay for a precision that about {n} {n|record does|records do} not have.
Chance is the larger part: a wider margin costs less and tells about as much.
Noise and chance (±{within}) are about equal: a closer margin would tell little more.
Question {n}:
Choose a column.
This question needs public bounds of its column: the least and the greatest value that count.
List the groups: public values, one a line.
Give the number of bins.
Give the radius, as a share of the width of the bounds, such as 0.1.
Give the number of others within the radius.
Choose the values that count.
Choose the columns that distances are measured in.
The rank is between 0 and 1; 0.5 is the median.
Give the margin: how far the answer may lie from the exact one.
Give what to pay, above 0 with at most 9 places.
Give about how many records a group has. It is your guess.
Complete the condition, or choose “no condition”.
A share needs a condition.
This book does not allow this kind of answer.
Pay {cost} and ask
Pay and ask
the answer comes {time} after you press
{short} short
sealed: nothing is paid
Pay {cost} and ask?
**{letter} {cost}** is charged before the data is read. It is not refunded, even if the answer fails.
The answer is on its way
It leaves {s} {s|second|seconds} after the request, however long the computation took, so that the time shows nothing about the data.
The outcome is not known. Ask again: the same request is charged once.
Ask for the answer again
Rehearsal on made-up rows
made up, not your data
Try on made-up rows, free
{rows} {rows|row|rows} drawn from the schema and the public bounds alone. No data was read, nothing was paid.
Made up
Rehearsed {runs} times: {within} of {of} {of|answer|answers} ({share}) lay within the promised margin.
Already answered
free
Asked again
This very question was answered for {by} on {at}, for {cost}. **Reading that answer costs nothing**: it was released already.
Read the stored answer, free
Pay {cost} and ask again
**Asking again does not improve the first answer.** It draws new noise for the same data.
This question does not fit your budget
Nothing was read and nothing was spent.
Account: {account}.
Asked
Left to you
Short
What would fit
Use this
The question was changed so that it fits.
A higher cap
A data steward decides; it is written into the book.
ask a steward
one record
one person
Your budget
ε: how much one person may change the odds. It is not refunded.
ρ: the privacy loss under zCDP. It adds up over answers and is not refunded.
{spent} of {cap}
{left} left to you
{left} left to everyone together
You have no account in this book. A data steward opens one in the budget book.
Your account in this book is closed.
Open the budget book
What {left} still buys
Each line alone, 95 times in 100 within the margin
Answer
{letter} each
times
Nothing that the server knows of.
Answers you may read free
What does “{term}” mean?
Example: {text}
None yet. Ask a question: its answer stays here and can be read again free.
Answer no. {n} from {table} · {at} · {by}
Answer no. {n}
{n} {n|answer|answers} of one request
Ask another question
Download answer and certificate
Answer
Paid
Yours left
The table’s left
Within ±{within}
 of {of}
Group
Noise ±
Chance ±
Records, about
Show all {n} rows
Sum of all groups: {n}
answer
noise, above
chance in who is in the data, below
**{most}** lies above **{least}**: they lie further apart than all their margins together. Take two groups as different only if they do. Which group is the greatest or the least, this answer does not say.
The greatest value is that of **{most}**, the least that of **{least}**: each lies further from all other groups than all their margins together.
Take two groups as different only if they lie further apart than all their margins together: some do here. Which group is the greatest or the least, this answer does not say.
What the answer guarantees
Take two groups as different only if they lie further apart than all their margins together: **no two groups do here.** Which group is the greatest or the least, this answer does not say.
Without noise the answer lies between **{from} and {to}**, {times} times in 100.
Read with care.
Certificate
Proves what was asked, paid and guaranteed
download
It is about these figures
Signed by this server
Entry no. {n} in the book
Charged before the data was read
released at a fixed time after the request
What the answers about each table may reveal in all, and what was spent of it.
No budget book is open
Accounting
Accounts
yours
Opened
{level}% of the cap spent
Tables without a book
Choose one to open its book.
confirm its columns first
epsilon
Each answer costs an ε, and the costs add up. Best for a few answers. Default.
zCDP (rho)
Each answer costs a ρ. Many small questions cost far less than their ε together; the guarantee holds at a δ.
Budget book of {table}
Left
Spent
Charges without an answer
Cap
Left, all accounts
Spent, all accounts
Cap of the table, all time
The cap in full: {cap}.
This book is sealed.
Its stored state does not match what was released. Nothing is charged until an operator repairs it.
{letter} spent since {from}, stacked by account: {spent} of {cap}.
{spent} spent by today
cap {cap}
refused, nothing spent
lost to a crash, still charged
without an account
Spent by the account
Spent in all
Entries
newest first; they cannot be edited or deleted
State of the entries
All
Account
all accounts
What was asked
Chain
Book opened
cap {cap}
Account of {name}
Account of {name} closed
Recovered after a restore
New definition of the table
asked {asked}, left {left}, {short} short
stopped before the answer was released
Accounts
A charge must fit the account and the cap of the table.
No account yet: only accounts can ask.
{left} left
closed
ended: a question took too long
Allow questions
Allow the questions of {name} again
Close
No question can be asked with it any more. Left: {left}. What was spent stays spent; answers stay.
Close the account of {name}
Add an analyst
The account may ask this table up to its cap. It sees the public definition and its own entries; never rows or counts.
Open the account
The account is open.
Principal
Cap ε
Cap δ
0: only answers without δ
Cap ρ
Raise the cap
Raise the cap of {name}
Raise the cap of the table
The cap was raised.
The cap is {now}. It can only rise, and the book keeps each rise.
Is the book sound?
It was not checked yet.
checked {at}
Check now
Checking the chain
The budget is running out.
{level}% of the cap of the table was passed on {at}.
{level}% of the cap of {name} was passed on {at}.
The columns or the file of the table changed. The book keeps its definition until you take the new one over.
Take it over with these cells
Take the new definition over
Show what would change
What the new definition changes
All columns stay as they are: the file of the table is another one.
In the book
New
new column
column left out
type
levels
how dates are written
public bounds
Bounds and groups that the table does not state stay. Prices quoted before are refused from then on. It cannot be taken back; the audit log gets an entry.
Public definition
Version {version}. Analysts see this and nothing else of the table.
Public bounds and values
Open a budget book
Open the book of {table}
The book states what all answers about this table may reveal together. Caps can only rise; the rest stays.
Read the table and open
Open with these cells
The server reads the whole table once and compares each cell with the definition.
Cells that do not fit
They count as missing in every answer. Private: for the steward.
All cells fit.
\`{column}\`: {n} {n|cell|cells}
Accounting and cap
δ of the guarantee
such as 0.000001; well under one in the number of persons
At the cap, whether {unit} is in the table or not changes the odds of all answers together at most **{odds} times**.
Public bounds and values of each column
Sums, means and quantiles need bounds; groups need a list of values, one a line.
**These are public.** Take them from what is known of the subject, such as a code list. Bounds or lists that were read from the data reveal who is in it.
Whose presence the guarantee hides
Records of one person that count, at most
More costs accuracy; fewer leaves records out.
Records of the table, at most (optional)
Public; from what is known of the subject. Some answers wait for as long as this number needs. Otherwise 1,000,000.
Records that count, about (optional)
Public; from a published figure and never counted in this table. Margins of means by groups start from it.
Give the cap.
Give the δ of the guarantee.
Decide how many records of one person count at most.
The greatest number of records is a whole number.
The number of records that count is a whole number, at most the greatest number of records.
The name in the ledger has a to z, 0 to 9 and - only.
Choose the column of the model, and a file that holds one.
Dependence between records (optional)
For records that tell something of each other, such as those of a household or of consecutive days.
Choose a model (JSON)…
Without a model
\`{file}\`: {type}[states?, states {states}].
{file} holds no model.
Column of the states
Any other cell counts as
**A model is public.** Take it from public or older data. Every answer is then charged for what records tell of each other. Questions are about the column of the model alone, and the number of records is public.
More settings
Name in the ledger (optional)
a to z, 0 to 9 and -; it stays
Share answers
Analysts of this table may read each other’s paid answers. That costs no privacy.
This table holds other people than the similar data set
If it holds the same people, their budgets must be one.
Take them from a noren.yaml…
Taken from {file}.
It states these too, which do not fit a column: {columns}.
from the specification
from the confirmed columns
as in the book of {book}
from the name of the column: please check
What can be asked
Counts, sums, means, quantiles, histograms
Counts. Sums and means only where a question states its own bounds.
Counts, histograms over time
Counts. Histograms only where a question states its own bounds.
Counts, and groups by {n} {n|value|values}
Counts. Groups only where a question lists its own values.
Questions and budget
Answers with noise, charged to the table’s budget book`.split(`
`),n=Object.fromEntries(e.map((e,n)=>[e,t[n]]));export{n as en};