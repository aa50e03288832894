import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The path of a program in the place of ffmpeg: it says that it can all, and then does `run` (of a shell) instead of it. */
export async function inPlaceOfFfmpeg(folder: string, name: string, run: string): Promise<string> {
  const path = join(folder, name)
  const text = `#!/bin/sh\ncase "$*" in *-encoders*|*-version*) exec ffmpeg "$@";; esac\n${run}\n`
  await writeFile(path, text)
  await chmod(path, 0o755)
  return path
}
