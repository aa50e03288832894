/** Maximum size of a table, in bytes and in characters: the controller's limit. */
export const largestTable = 4 * 1024 * 1024

/** Reason why a file cannot be read as a table. */
export type TableFileProblem = 'tooBig' | 'notText'

export class TableFileError extends Error {
  readonly problem: TableFileProblem
  constructor(problem: TableFileProblem) {
    super(problem)
    this.problem = problem
  }
}

/**
 * Decodes a table file in the usual encodings of spreadsheets: UTF-8, UTF-16 with a byte order mark, and GB 18030, as
 * written by Excel in China.
 * @throws TableFileError
 */
export async function readTableFile(file: Blob): Promise<string> {
  if (file.size > largestTable) throw new TableFileError('tooBig')
  const bytes = new Uint8Array(await file.arrayBuffer())
  const text = decode(bytes)
  // A workbook or another binary file.
  if (/\0|^PK\u0003\u0004/.test(text)) throw new TableFileError('notText')
  return text
}

function decode(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('gb18030').decode(bytes)
  }
}
