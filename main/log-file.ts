import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DestinationStream } from 'pino'

/** Size at which a new log file is started, in bytes; one older file is kept. */
const maxBytes = 5 * 1024 * 1024
/** Maximum size while another program prevents the file from being renamed, in bytes. Beyond it, lines are lost. */
const maxHeldBytes = 4 * maxBytes
/** Interval between attempts to rename the file, in milliseconds. */
const retryMs = 60_000

/**
 * Creates a log file of limited size, for an app without a terminal. If the disk fails, lines are lost, but the app
 * continues.
 */
export function logFile(path: string, now: () => number = () => performance.now()): DestinationStream {
  let file: number | undefined
  let size = 0
  let retryAt = -Infinity

  const open = (): number | undefined => {
    try {
      mkdirSync(dirname(path), { recursive: true })
      const opened = openSync(path, 'a', 0o600)
      size = fstatSync(opened).size
      return opened
    } catch {
      // A failed log cannot be reported anywhere.
      return undefined
    }
  }
  const rotate = (): void => {
    if (file !== undefined) closeSync(file)
    file = undefined
    try {
      renameSync(path, `${path}.old`)
    } catch {
      // Continues in the existing file: Windows cannot rename a file that another program has opened.
      retryAt = now() + retryMs
    }
  }

  return {
    write(line) {
      if (size > maxBytes && now() >= retryAt) rotate()
      file ??= open()
      if (file === undefined || size > maxHeldBytes) return
      try {
        size += writeSync(file, line)
      } catch {
        // The disk is full: the line is lost.
      }
    },
  }
}
