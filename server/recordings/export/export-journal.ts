import type { Logger } from 'pino'
import { z } from 'zod'
import { insideOf, type OwnPath } from '../../../shared/files/own-path.ts'
import { openInside, reserveInside, sizeInside } from '../../../shared/files/real-path.ts'
import { momentSchema, recordedStreamSchema } from '../../../shared/recordings/segment.ts'
import type { ExportRequest } from './export-job.ts'
import { exportFormats } from '../../../shared/domain/recording-exports.ts'

/** Export whose result a restart deletes. */
export interface JournaledExport {
  id: string
  /** Id of the account that requested the export. */
  account: string
  request: ExportRequest
}

type Entry = { began: JournaledExport } | { left: string }

const line: z.ZodType<Entry> = z.union([
  z.strictObject({
    began: z.strictObject({
      id: z.string().min(1).max(64),
      account: z.string(),
      request: z.strictObject({
        streams: z.array(recordedStreamSchema),
        from: momentSchema,
        to: momentSchema,
        format: z.enum(exportFormats),
        keepGaps: z.boolean(),
        picture: z.boolean(),
        sound: z.boolean(),
      }),
    }),
  }),
  z.strictObject({ left: z.string() }),
])

/** Maximum size of a journal, in bytes; a larger journal is not read. */
const maxBytes = 16 * 1_048_576

/**
 * Journal file beside the export results, with a line for each export that enters or leaves the list. The next run
 * reads the journal to list the exports that the restart ended.
 */
export class ExportJournal {
  readonly #folder: string
  readonly #path: OwnPath
  readonly #logger: Logger
  #turn: Promise<void> = Promise.resolve()

  /** @param folder recordings folder */
  constructor(folder: string, logger: Logger) {
    this.#folder = folder
    this.#path = insideOf(folder, '.exports.jsonl')
    this.#logger = logger
  }

  /**
   * Returns the exports of earlier runs that were still listed, the oldest first. Empties the journal. Never rejects.
   */
  async takeOver(): Promise<JournaledExport[]> {
    const listed = new Map<string, JournaledExport>()
    for (const entry of await this.#read()) {
      if ('left' in entry) listed.delete(entry.left)
      else listed.set(entry.began.id, entry.began)
    }
    if (listed.size > 0) await this.#guarded(async () => void (await reserveInside(this.#folder, this.#path)))
    return [...listed.values()]
  }

  /** Records that an export entered the list. */
  began(began: JournaledExport): void {
    this.#write({ began })
  }

  /** Records that an export left the list: its result was deleted, or the export ended without a result. */
  left(id: string): void {
    this.#write({ left: id })
  }

  /** Resolves when all entries so far are written. */
  async written(): Promise<void> {
    await this.#turn
  }

  #write(entry: Entry): void {
    this.#turn = this.#turn.then(() =>
      this.#guarded(async () => {
        await using file = await openInside(this.#folder, this.#path, 'append')
        await file.appendFile(`${JSON.stringify(entry)}\n`)
      }),
    )
  }

  async #read(): Promise<Entry[]> {
    try {
      if ((await sizeInside(this.#folder, this.#path)) > maxBytes) return []
      await using file = await openInside(this.#folder, this.#path)
      const text = await file.readFile('utf8')
      return text.split('\n').flatMap((each) => parsed(each))
    } catch {
      // The journal is missing at the first start and in an unusable folder.
      return []
    }
  }

  async #guarded(act: () => Promise<void>): Promise<void> {
    await act().catch((err: unknown) => this.#logger.warn({ err }, 'the list of exports could not be stored'))
  }
}

/** Returns the entry of a line; an empty array for a line truncated by a crash. */
function parsed(text: string): Entry[] {
  try {
    const { data } = line.safeParse(JSON.parse(text))
    return data === undefined ? [] : [data]
  } catch {
    return []
  }
}
