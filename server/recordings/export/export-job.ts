import type { FileHandle } from 'node:fs/promises'
import type { Logger } from 'pino'
import { z } from 'zod'
import {
  type ExportFailure,
  type ExportFormat,
  exportFormats,
  type ExportState,
} from '../../../shared/domain/recording-exports.ts'
import { errorCode } from '../../../shared/error-code.ts'
import { insideOf, type OwnPath } from '../../../shared/files/own-path.ts'
import { openInside, reserveInside, sizeInside } from '../../../shared/files/real-path.ts'
import { momentSchema, type RecordedStream, recordedStreamSchema } from '../../../shared/recordings/segment.ts'
import { ObjectError } from '../objects/object-error.ts'
import { EncoderMissingError, FfmpegError } from './ffmpeg-convert.ts'

/** Span of streams to export as one file or as a zip of files. */
export interface ExportRequest {
  streams: readonly RecordedStream[]
  /** Start of the span, in milliseconds since the epoch. */
  from: number
  to: number
  format: ExportFormat
  keepGaps: boolean
  picture: boolean
  sound: boolean
}

export interface ExportJob extends ExportRequest {
  id: string
  state: ExportState
  /** Completed part, 0 to 1. */
  progress: number
  /** Id of the account that requested the export; empty: the console key, or the window of the desktop application. */
  account: string
  /** Name of the file; empty until it is complete. */
  name: string
  bytes: number
  /** Whether the file is not in the requested format, because ffmpeg is missing. */
  unconverted: boolean
  /** Reason of the failure; empty: none. */
  error: string
  failure?: ExportFailure
  /** Number of segments whose files are missing or damaged. */
  lost: number
  /** Time at which the file is deleted, in milliseconds since the epoch; 0 if there is no file. */
  expiresAt: number
}

export interface ExportResult {
  open: () => Promise<FileHandle>
  name: string
  bytes: number
  account: string
  /** Streams in the file. */
  streams: readonly RecordedStream[]
}

/** Returns a name that every file system accepts. */
export function exportFileName(name: string): string {
  return (
    name
      .replace(/[^\p{L}\p{N}._-]+/gu, '-')
      .replace(/^[.-]+|[.-]+$/g, '')
      .slice(0, 60) || 'recording'
  )
}

/** Formats a moment in UTC for a file name. */
export function stampOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replaceAll(':', '')}Z`
}

/** Thrown if nothing of a stream was recorded in a span. */
export class NothingRecordedError extends Error {
  override readonly name = 'NothingRecordedError'
}

/** Thrown if all files of a stream in a span are missing or damaged. */
export class FilesLostError extends NothingRecordedError {}

const byCode: Readonly<Record<string, ExportFailure>> = {
  ENOSPC: 'diskFull',
  EDQUOT: 'diskFull',
  EIO: 'unreadable',
  ENOENT: 'unreadable',
  EACCES: 'unreadable',
  EPERM: 'unreadable',
}

/** Returns the reason of a failed export. */
export function exportFailureOf(error: unknown): ExportFailure {
  if (error instanceof FilesLostError) return 'filesLost'
  if (error instanceof NothingRecordedError) return 'nothingRecorded'
  if (error instanceof EncoderMissingError) return 'encoderMissing'
  if (error instanceof FfmpegError) return error.message.includes('No space left') ? 'diskFull' : 'conversion'
  if (error instanceof ObjectError) return 'storageAway'
  const code = errorCode(error)
  return (Object.hasOwn(byCode, code) ? byCode[code] : undefined) ?? 'unexpected'
}

/** Export whose result a restart deletes. */
interface JournaledExport {
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
