import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { type DestinationStream, pino } from 'pino'

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
