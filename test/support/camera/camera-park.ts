import { spawn } from 'node:child_process'
import { once } from 'node:events'
import net from 'node:net'
import { interleavedPacket, startScriptedCamera, usualAnswer } from './scripted-camera.ts'

/** Interval between packets of a live camera, in milliseconds: well below the limit for a stalled stream. */
const packetMs = 1_000

/** Many cameras on few ports: live ones, and every kind of dead one that the field has. */
export interface CameraPark extends AsyncDisposable {
  /** Address of a camera that plays. */
  live(number: number): string
  /** Address of a dead camera: in turn a closed port, a connection that is never accepted, and one that is accepted and stays silent. */
  dead(number: number): string
  /** Number of cameras that play now. */
  playing(): number
}

/** Opens a camera park on loopback. */
export async function openCameraPark(): Promise<CameraPark> {
  const playing = new Set<net.Socket>()
  const live = await startScriptedCamera((request) => {
    const answer = usualAnswer(request)
    if (request.method !== 'PLAY' || answer === undefined) return answer
    return {
      ...answer,
      after: (socket) => {
        playing.add(socket)
        socket.on('close', () => playing.delete(socket)).write(interleavedPacket(1))
      },
    }
  })
  let sequence = 1
  const timer = setInterval(() => {
    sequence = (sequence + 1) & 0xffff
    for (const socket of playing) socket.write(interleavedPacket(sequence))
  }, packetMs)
  const silent = await startScriptedCamera(() => undefined)
  const deaf = await startDeafPort()
  const ports = [await closedPort(), deaf.port, silent.port]
  return {
    live: (number) => `rtsp://127.0.0.1:${live.port}/live/${number}`,
    dead: (number) => `rtsp://127.0.0.1:${ports[number % ports.length]}/dead/${number}`,
    playing: () => playing.size,
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer)
      deaf.end()
      await live[Symbol.asyncDispose]()
      await silent[Symbol.asyncDispose]()
    },
  }
}

/** Finds a port without a listener. */
async function closedPort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = portOf(server)
  server.close()
  await once(server, 'close')
  return port
}

/** Opens a port whose process is frozen and whose queue is full: the system drops each further SYN, like a host that is gone. */
async function startDeafPort(): Promise<{ port: number; end(): void }> {
  const program =
    "const s = require('net').createServer(); s.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => process.send(s.address().port))"
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const [port] = (await once(child, 'message')) as [number]
  child.kill('SIGSTOP')
  // Two connections fill a queue of one; nothing accepts them.
  const fillers = Array.from({ length: 4 }, () => net.connect(port, '127.0.0.1').on('error', () => {}))
  await Promise.all(fillers.slice(0, 2).map((filler) => once(filler, 'connect')))
  return {
    port,
    end: () => {
      for (const filler of fillers) filler.destroy()
      child.kill('SIGKILL')
    },
  }
}

function portOf(server: net.Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
