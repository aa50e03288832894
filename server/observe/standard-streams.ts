import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { type DestinationStream, pino } from 'pino'

/** Lines that wait for a full disk or a reader that does not read, in bytes. Lines beyond that are dropped. */
const maxWaiting = 1024 * 1024

/**
 * Keeps this process running when its output is lost: the disk behind it is full (ENOSPC), its reader has gone (EPIPE), its terminal is closed (EIO). Without a
 * listener, Node ends the process with such an error.
 */
export function surviveLostOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/**
 * Destination that writes each line to stderr. A line that cannot be written waits, and is written before the next one; a reader that does not read never stops
 * the process.
 */
export function standardError(): DestinationStream {
  const stream: Writable = process.stderr
  // Node writes to pipes and sockets without blocking.
  if (stream instanceof Socket && !process.stderr.isTTY) return new PipeDestination(stream)
  // To files and terminals at once, so that the last lines before a crash are there.
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
