// Workbooks with hidden rows and columns, for browser tests.
import { crc32 } from "node:zlib";

/** A zip archive of texts by name, stored as they are. */
function zip(files) {
  const parts = [];
  const directory = [];
  let at = 0;
  for (const [name, text] of Object.entries(files)) {
    const path = Buffer.from(name);
    const body = Buffer.from(text);
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0); // version
    head.writeUInt16LE(0x21, 8); // the first of January 1980
    head.writeUInt32LE(crc32(body), 10);
    head.writeUInt32LE(body.length, 14);
    head.writeUInt32LE(body.length, 18);
    head.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), head, path, body]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(at, 10);
    directory.push(Buffer.from("PK\x01\x02\x14\x00"), head, rest, path);
    parts.push(local);
    at += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(Object.keys(files).length, 8);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, listed, end]);
}

const xml = body => `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${body}`;
const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const packaged = "http://schemas.openxmlformats.org/package/2006";

/** A workbook of one sheet of texts and numbers; hidden names rows, from 1 with the header, and columns, from 1. */
export function workbook(rows, hidden = { rows: [], columns: [] }) {
  const cell = v => (typeof v === "number" ? `<c><v>${v}</v></c>` : `<c t="inlineStr"><is><t>${v}</t></is></c>`);
  const sheet = rows.map((row, i) => `<row r="${i + 1}"${hidden.rows.includes(i + 1) ? ' hidden="1"' : ""}>${row.map(cell).join("")}</row>`);
  const columns = hidden.columns.map(c => `<col min="${c}" max="${c}" width="9" hidden="1"/>`).join("");
  return zip({
    "[Content_Types].xml": xml(
      `<Types xmlns="${packaged}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`,
    ),
    "_rels/.rels": xml(`<Relationships xmlns="${packaged}/relationships"><Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`),
    "xl/workbook.xml": xml(`<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="Visits" sheetId="1" r:id="rId1"/></sheets></workbook>`),
    "xl/_rels/workbook.xml.rels": xml(`<Relationships xmlns="${packaged}/relationships"><Relationship Id="rId1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`),
    "xl/worksheets/sheet1.xml": xml(`<worksheet xmlns="${main}">${columns ? `<cols>${columns}</cols>` : ""}<sheetData>${sheet.join("")}</sheetData></worksheet>`),
  });
}
