import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { type DestinationStream, type LogFn, type Logger, pino } from 'pino'
import { withoutSecrets, withoutSecretText } from './redaction/log-fields.ts'

/** The parts of a logger that the controller uses. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

/** Levels of `--log-level`, from the most to the least verbose. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

/**
 * Creates the controller's log: JSON lines on stderr, with complete errors, and with secrets removed from fields and
 * texts.
 * @param destination default: stderr
 */
export function createLog(level: LogLevel, destination: DestinationStream = standardError()): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (fields) => withoutSecrets(fields) },
      // `withoutSecrets` formats errors together with the other fields.
      serializers: { err: (value: unknown) => value, error: (value: unknown) => value },
      hooks: {
        logMethod(parts, method) {
          const clean = parts.map((part: unknown) => (typeof part === 'string' ? withoutSecretText(part) : part))
          method.apply(this, clean as Parameters<LogFn>)
        },
      },
    },
    destination,
  )
}

/** Keeps the last lines of the log in memory, for diagnostics, and passes every line on. */
export class RecentLog implements DestinationStream {
  readonly #next: DestinationStream
  readonly #maxCharacters: number
  #lines: string[] = []
  #characters = 0

  /** @param maxCharacters size above which the oldest lines are dropped */
  constructor(next: DestinationStream, maxCharacters = 1024 * 1024) {
    this.#next = next
    this.#maxCharacters = maxCharacters
  }

  /** Last lines of the log, unchanged. */
  get text(): string {
    return this.#lines.join('')
  }

  write(line: string): void {
    this.#next.write(line)
    this.#lines.push(line)
    this.#characters += line.length
    if (this.#characters > this.#maxCharacters) this.#forgetOldest()
  }

  /** Drops a tenth of the text at once, so that the array is not copied for every line. */
  #forgetOldest(): void {
    let from = 0
    while (this.#characters > this.#maxCharacters * 0.9 && from < this.#lines.length) {
      this.#characters -= this.#lines[from]?.length ?? 0
      from += 1
    }
    this.#lines = this.#lines.slice(from)
  }
}

/**
 * Maximum size of lines waiting for a full disk or a reader that does not read, in bytes. Further lines are dropped.
 */
const maxWaiting = 1024 * 1024

/**
 * Keeps this process running when its output is lost: the disk is full (ENOSPC), its reader has exited (EPIPE), its
 * terminal is closed (EIO). Without a listener, Node would end the process after an output error.
 */
export function surviveLostOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/**
 * Returns a destination that writes each line to stderr. A line that cannot be written is queued, and written before
 * the next line. A reader that does not read never blocks the process.
 */
export function standardError(): DestinationStream {
  const stream: Writable = process.stderr
  // Node writes to pipes and sockets without blocking.
  if (stream instanceof Socket && !process.stderr.isTTY) return new PipeDestination(stream)
  // Written synchronously to files and terminals, so that the last lines before a crash are not lost.
  const destination = pino.destination({ dest: 2, sync: true, maxLength: maxWaiting })
  destination.on('error', () => {})
  return destination
}

class PipeDestination implements DestinationStream {
  readonly #stream: Socket
  #dropped = 0

  constructor(stream: Socket) {
    this.#stream = stream
  }

  write(line: string): void {
    if (this.#stream.writableLength > maxWaiting) {
      this.#dropped += 1
      return
    }
    if (this.#dropped > 0) {
      const notice = {
        level: 'warn',
        time: new Date(),
        lines: this.#dropped,
        msg: 'log lines dropped: stderr was not read',
      }
      this.#stream.write(`${JSON.stringify(notice)}\n`)
      this.#dropped = 0
    }
    this.#stream.write(line)
  }
}
