import { stat } from 'node:fs/promises'
import { posix } from 'node:path'
import { mustNotFail } from '../../shared/unawaited.ts'
import { lookMs, QuietMoment } from './quiet-moment.ts'

/** Properties of the running app that determine its files. */
interface RunningProgram {
  platform: NodeJS.Platform
  isPackaged: boolean
  program: string
  /** Path of the running AppImage, if any. */
  appImage: string | undefined
}

/**
 * Returns the files that show whether the app was replaced. Returns none if the app cannot be replaced while it runs,
 * as on Windows.
 * In a macOS bundle the executable may stay the same. `Info.plist` contains the version and the checksum of every
 * build. `Resources`, which is copied last, changes with each file in it.
 */
export function programFiles({ platform, isPackaged, program, appImage }: RunningProgram): readonly string[] {
  if (!isPackaged || platform === 'win32') return []
  if (platform !== 'darwin') return [appImage ?? program]
  const contents = posix.dirname(posix.dirname(program))
  return [program, posix.join(contents, 'Info.plist'), posix.join(contents, 'Resources')]
}

/**
 * Detects that files of the running program were replaced, e.g. by `apt install` in a terminal or by copying a newer
 * bundle. The program continues, but starts new processes from the new files.
 */
export class ReplacedProgram {
  readonly #paths: readonly string[]
  #first: string | undefined
  #last: string | undefined

  constructor(paths: readonly string[]) {
    this.#paths = paths
  }

  /**
   * Compares the files with their state at the first call. Resolves to true if they differ and have not changed since
   * the previous call, so the replacement is complete.
   */
  async look(): Promise<boolean> {
    const before = this.#last
    const now = await stateOf(this.#paths)
    this.#last = now
    this.#first ??= now
    return now !== undefined && now !== this.#first && now === before
  }
}

/** Restarts a program after its files were replaced, as soon as no people have been in rooms for five minutes. */
export function restartWhenReplaced(files: readonly string[], isOccupied: () => boolean, restart: () => void): void {
  const program = new ReplacedProgram(files)
  const moment = new QuietMoment()
  mustNotFail(program.look())
  const look = async (): Promise<void> => {
    const isQuiet = moment.look(isOccupied())
    if (!(await program.look()) || !isQuiet) return
    clearInterval(timer)
    restart()
  }
  const timer = setInterval(() => mustNotFail(look()), lookMs)
  timer.unref()
}

/** Returns a text that changes with any of the files; undefined: a file is missing. */
async function stateOf(paths: readonly string[]): Promise<string | undefined> {
  try {
    const stats = await Promise.all(paths.map(async (path) => await stat(path)))
    return stats.map(({ dev, ino, size, mtimeMs }) => [dev, ino, size, mtimeMs].join(' ')).join('\n')
  } catch {
    // A replacement is in progress.
    return undefined
  }
}
