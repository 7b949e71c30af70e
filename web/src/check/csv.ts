// CSV as noren writes it: RFC 4180 in UTF-8, a header, records that end in LF or CRLF, and
// between fields the delimiter of the source.

/** The delimiters that a header is looked for by. */
export const delimiters = [",", ";", "\t", "|"] as const;

export class CsvReader {
  private field = "";
  private record: string[] = [];
  private quoted = false;
  private closed = false;
  private started = false;
  private carriage = false;
  private anyQuoted = false;

  private readonly delimiter: number;

  constructor(
    private readonly emit: (record: string[]) => void,
    delimiter = ",",
  ) {
    this.delimiter = delimiter.charCodeAt(0);
  }

  /** Reads on. Quotes inside fields are doubled; line ends in quotes belong to the field. */
  push(text: string): void {
    let from = 0;
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (this.carriage) {
        this.carriage = false;
        if (c === 10) {
          from = i + 1;
          continue;
        }
      }
      if (this.quoted && !this.closed) {
        if (c !== 34) continue;
        this.field += text.slice(from, i);
        from = i + 1;
        this.closed = true;
        continue;
      }
      if (this.closed && c === 34) {
        this.closed = false; // a doubled quote: it begins the next piece
        from = i;
        continue;
      }
      if (c === 34 && !this.started && from === i) {
        this.quoted = true;
        this.anyQuoted = true;
        this.started = true;
        from = i + 1;
        continue;
      }
      if (c === this.delimiter || c === 10 || c === 13) {
        this.field += text.slice(from, i);
        from = i + 1;
        this.endField();
        if (c !== this.delimiter) this.endRecord();
        this.carriage = c === 13;
        continue;
      }
      this.started = true;
    }
    this.field += text.slice(from);
  }

  end(): void {
    if (this.field !== "" || this.record.length > 0 || this.quoted) {
      this.endField();
      this.endRecord();
    }
  }

  private endField(): void {
    this.record.push(this.field);
    this.field = "";
    this.quoted = false;
    this.closed = false;
    this.started = false;
  }

  private endRecord(): void {
    const record = this.record;
    this.record = [];
    const blank = record.length === 1 && record[0] === "" && !this.anyQuoted;
    this.anyQuoted = false;
    if (!blank) this.emit(record);
  }
}

/** The first record of a text. */
function header(text: string, delimiter: string): string[] {
  let found: string[] | undefined;
  const reader = new CsvReader(record => (found ??= record), delimiter);
  const step = 4096;
  for (let at = 0; at < text.length && !found; at += step) reader.push(text.slice(at, at + step));
  if (!found) reader.end();
  return found ?? [];
}

/** The names of a header, without the apostrophes before names that spreadsheets take for formulas. */
const unmarked = (names: string[], wanted: string[], marked: boolean): string[] =>
  names.map(name => (marked && /^'.*[=+@\-＝＋＠－]/s.test(name) && wanted.includes(name.slice(1)) ? name.slice(1) : name));

/**
 * The delimiters by which the header has columns of the certificate, those with most first.
 * One column has no delimiter in its header, so that several are possible; none is where the
 * header has no column of the certificate: then the file is not understood.
 */
export function possible(text: string, wanted: string[], marked = false): string[] {
  if (wanted.length === 0) return [","];
  const names = new Set(wanted);
  const scored = delimiters.map(delimiter => ({ delimiter, n: unmarked(header(text, delimiter), wanted, marked).filter(name => names.has(name)).length }));
  const most = Math.max(...scored.map(s => s.n));
  return most === 0 ? [] : scored.filter(s => s.n === most).map(s => s.delimiter);
}

export interface Counted {
  columns: string[];
  rows: number;
  /** Classes of equal quasi-identifiers, and the sizes of the smallest and the largest. */
  classes: number;
  smallest: number;
  largest: number;
  /** The least number of persons in a class, where the file has the unit's column. */
  persons: number | undefined;
  missing: string[];
  ragged: number;
}

/** How much of a file its header is looked for in. */
const headBytes = 1 << 20;

/**
 * Counts the classes of a CSV file. Values are compared as they are written. The columns of the
 * certificate tell the delimiter. undefined where the header has none of them.
 */
export async function countClasses(blob: Blob, quasi: string[], unit: string | undefined, wanted: string[] = quasi, told: (bytes: number) => void = () => undefined, marked = false): Promise<Counted | undefined> {
  const head = new TextDecoder("utf-8", { fatal: true }).decode(await blob.slice(0, headBytes).arrayBuffer(), { stream: true });
  let first: Counted | undefined;
  for (const delimiter of possible(head, wanted, marked)) {
    const counted = await countBy(delimiter, blob, quasi, unit, told, header => unmarked(header, wanted, marked));
    if (counted.ragged === 0) return counted;
    first ??= counted;
  }
  return first;
}

async function countBy(delimiter: string, blob: Blob, quasi: string[], unit: string | undefined, told: (bytes: number) => void, names: (header: string[]) => string[]): Promise<Counted> {
  const classes = new Map<string, number>();
  const persons = new Map<string, Set<string>>();
  const out: Counted = { columns: [], rows: 0, classes: 0, smallest: 0, largest: 0, persons: undefined, missing: [], ragged: 0 };
  let at: number[] = [];
  let unitAt = -1;
  let first = true;
  const reader = new CsvReader(record => {
    if (first) {
      first = false;
      record = names(record);
      out.columns = record;
      at = quasi.map(q => record.indexOf(q));
      out.missing = quasi.filter((_, i) => at[i] === -1);
      unitAt = unit ? record.indexOf(unit) : -1;
      return;
    }
    out.rows++;
    if (record.length !== out.columns.length) out.ragged++;
    if (out.missing.length > 0) return;
    const key = JSON.stringify(at.map(i => record[i] ?? ""));
    classes.set(key, (classes.get(key) ?? 0) + 1);
    if (unitAt >= 0) {
      let set = persons.get(key);
      if (!set) persons.set(key, (set = new Set()));
      const person = record[unitAt] ?? "";
      if (person !== "") set.add(person);
    }
  }, delimiter);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const size = 4 << 20;
  for (let begin = 0; begin < blob.size; begin += size) {
    const bytes = await blob.slice(begin, begin + size).arrayBuffer();
    reader.push(decoder.decode(bytes, { stream: true }));
    told(Math.min(blob.size, begin + size));
  }
  reader.push(decoder.decode());
  reader.end();
  out.classes = classes.size;
  let smallest = Infinity;
  for (const n of classes.values()) {
    if (n < smallest) smallest = n;
    if (n > out.largest) out.largest = n;
  }
  out.smallest = classes.size > 0 ? smallest : 0;
  if (unitAt >= 0) {
    let least = Infinity;
    for (const set of persons.values()) least = Math.min(least, set.size);
    out.persons = persons.size > 0 ? least : 0;
  }
  return out;
}
