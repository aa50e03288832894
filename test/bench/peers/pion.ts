import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { buildPion } from '../../support/media/clients/clients.ts'
import { WhepEndpoint } from './whep-endpoint.ts'
import type { Peer } from './peer.ts'

/**
 * Starts a forwarder on Pion. It has no RTSP: ffmpeg forwards the camera's RTP, and is not measured.
 * @throws Error with the command that installs it
 */
export async function startPion(folder: string, camera: string): Promise<Peer> {
  const program = await buildPion(join(import.meta.dirname, 'pion'), join(folder, 'pion'))
  const child = spawn(program, [], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const [port = 0, rtp = 0] = line.split(' ').map(Number)
  const ffmpeg = bringRtp(camera, rtp)
  process.once('exit', () => ffmpeg.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}`
  const endpoint = await WhepEndpoint.listen(async (offer) => {
    const response = await fetch(`${url}/whep`, { method: 'POST', body: offer })
    const sdp = await response.text()
    if (response.status !== 201) throw new Error(`Pion answered ${response.status}: ${sdp}`)
    const session = new URL(response.headers.get('location') ?? '', url)
    return {
      sdp,
      answer: () => Promise.reject(new Error('Pion does not offer')),
      end: async () => void (await fetch(session, { method: 'DELETE' })),
    }
  })
  return {
    name: 'Pion',
    pid: child.pid ?? 0,
    url: endpoint.url,
    whep: `${endpoint.url}/whep`,
    token: '',
    offers: false,
    async [Symbol.asyncDispose]() {
      await endpoint[Symbol.asyncDispose]()
      for (const process of [ffmpeg, child]) {
        process.kill('SIGKILL')
        if (process.exitCode === null && process.signalCode === null) await once(process, 'exit')
      }
    },
  }
}

function bringRtp(camera: string, port: number): ChildProcess {
  const input = ['-v', 'error', '-nostdin', '-rtsp_transport', 'tcp', '-fflags', 'nobuffer', '-i', camera]
  const output = ['-map', '0:v', '-c', 'copy', '-bsf:v', 'dump_extra=freq=keyframe', '-f', 'rtp']
  return spawn('ffmpeg', [...input, ...output, `rtp://127.0.0.1:${port}?pkt_size=1200`], { stdio: 'ignore' })
}
