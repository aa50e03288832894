import { type ChildProcess, spawn } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { onTestFinished } from 'vitest'

/** Starts an RTMP server that writes what it is sent to `/app/secret-key` into a file. */
export function receiveRtmp(port: number, file: string): ChildProcess {
  const parameters = ['-nostdin', '-v', 'error', '-y', '-listen', '1', '-i', `rtmp://127.0.0.1:${port}/app/secret-key`]
  const server = spawn('ffmpeg', [...parameters, '-c', 'copy', '-f', 'flv', '-flush_packets', '1', file], {
    stdio: 'ignore',
  })
  onTestFinished(() => void server.kill('SIGKILL'))
  return server
}

/** Bytes of a file; 0: there is none. */
export async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => ({ size: 0 }))).size
}
