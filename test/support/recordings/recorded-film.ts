import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const folder = join(import.meta.dirname, '../../../node_modules/.cache')

/** Makes a film for `startFilmCameras`: H.264 at a constant rate with a group of pictures of two seconds, and Opus. Kept for the next run. Returns its path. */
export async function recordedFilm({
  width,
  height,
  rate,
}: {
  width: number
  height: number
  rate: string
}): Promise<string> {
  const path = join(folder, `recorded-film-${width}x${height}-${rate}.mp4`)
  if (existsSync(path)) return path
  await mkdir(folder, { recursive: true })
  const part = `${path}.${process.pid}.mp4`
  const picture = ['-f', 'lavfi', '-i', `testsrc2=size=${width}x${height}:rate=25,noise=alls=12:allf=t`]
  const sound = ['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000']
  const rates = ['-b:v', rate, '-maxrate', rate, '-bufsize', rate, '-x264-params', 'nal-hrd=cbr:scenecut=0']
  const coded = ['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-g', '50', '-pix_fmt', 'yuv420p']
  await run('ffmpeg', [
    ...['-v', 'error', '-y', ...picture, ...sound, '-t', '24', ...coded, ...rates],
    ...['-c:a', 'libopus', '-b:a', '48k', '-frame_duration', '20', part],
  ])
  await rename(part, path)
  return path
}
