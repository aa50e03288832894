import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DestinationStream } from 'pino'

/** Maximum size of the file in bytes, after which a new one begins; one older file is kept. */
const maxBytes = 5 * 1024 * 1024
/** Maximum size while another program keeps the file from being renamed, in bytes: further lines are lost. */
const maxHeldBytes = 4 * maxBytes
/** Time between attempts to rename it, in milliseconds. */
const retryMs = 60_000

/** A log file of bounded size, for an app without a terminal. A failing disk loses lines, but does not stop the app. */
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
      // There is no place to report that the log cannot be written.
      return undefined
    }
  }
  const rotate = (): void => {
    if (file !== undefined) closeSync(file)
    file = undefined
    try {
      renameSync(path, `${path}.old`)
    } catch {
      // Continues in the existing file: Windows renames none that another program has open.
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
