import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, vi } from 'vitest'
import { temporaryFolder } from '../sites/store-site.ts'

const run = promisify(execFile)

/** Some seconds of a live stream, as ffmpeg plays them: path of a file. @param hls address of the playlist */
export async function liveSeconds(hls: string, count: number): Promise<string> {
  await vi.waitFor(async () => expect((await fetch(hls)).status).toBe(200), { timeout: 60_000, interval: 300 })
  const path = join(await temporaryFolder(), 'live.mkv')
  const asked = ['-nostdin', '-v', 'error', '-i', hls, '-t', String(count), '-c', 'copy', path]
  await run('ffmpeg', asked, { timeout: (count + 60) * 1_000 })
  return path
}
