import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Pictures that show that a player plays a camera. */
const enough = 5

/** Whether ffprobe plays a camera by RTSP over TCP, or UDP where it must: it decodes some pictures. */
export async function referencePlays(url: string, login?: { name: string; password: string }): Promise<boolean> {
  const address = login === undefined ? url : url.replace('rtsp://', `rtsp://${login.name}:${login.password}@`)
  const read = ['-rtsp_flags', 'prefer_tcp', '-analyzeduration', '1000000', '-read_intervals', '%+1', '-threads', '1']
  const count = ['-count_frames', '-select_streams', 'v:0', '-show_entries', 'stream=nb_read_frames', '-of', 'csv=p=0']
  try {
    const { stdout } = await run('ffprobe', ['-v', 'error', ...read, ...count, address], { timeout: 12_000 })
    return Number.parseInt(stdout, 10) >= enough
  } catch {
    // It gave up, or hangs.
    return false
  }
}
