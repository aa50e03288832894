import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DestinationStream } from 'pino'

/** Bytes after which a new file is begun; one older file is kept. */
const longest = 5 * 1024 * 1024

/** A log file of bounded size, for an app that has no terminal. A disk that refuses costs the lines, never the app. */
export function logFile(path: string): DestinationStream {
  let file: number | undefined
  let size = 0

  const open = (): number | undefined => {
    try {
      mkdirSync(dirname(path), { recursive: true })
      const opened = openSync(path, 'a', 0o600)
      size = fstatSync(opened).size
      return opened
    } catch {
      return undefined
    }
  }
  const rotate = (): void => {
    if (file !== undefined) closeSync(file)
    file = undefined
    try {
      renameSync(path, `${path}.old`)
    } catch {
      // Then it goes on in the file there is.
    }
  }

  return {
    write(line) {
      if (size > longest) rotate()
      file ??= open()
      if (file === undefined) return
      try {
        size += writeSync(file, line)
      } catch {
        // Full: the line is lost.
      }
    },
  }
}
