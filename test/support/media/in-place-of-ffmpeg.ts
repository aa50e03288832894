import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Makes a substitute for ffmpeg, which reports all capabilities and then runs the shell commands `run`. Resolves to its path. */
export async function inPlaceOfFfmpeg(folder: string, name: string, run: string): Promise<string> {
  const path = join(folder, name)
  const text = `#!/bin/sh\ncase "$*" in *-encoders*|*-version*) exec ffmpeg "$@";; esac\n${run}\n`
  await writeFile(path, text)
  await chmod(path, 0o755)
  return path
}
