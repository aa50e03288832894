import dgram from 'node:dgram'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { type RestartedConnection, RestartPort } from '../../../../server/media/webrtc/restart-port.ts'
import { nominatingRequest } from '../../../../server/media/webrtc/stun.ts'

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

test('of a client that appears at ever more addresses only the latest are kept', async () => {
  const port = new RestartPort(65_535, '127.0.0.1', quiet)
  onTestFinished(() => port.close())
  const number = await port.open()
  const heard: string[] = []
  let told = (): void => {}
  const connection: RestartedConnection = {
    check: () => (told(), true),
    answered: () => {},
    media: (packet) => (heard.push(packet.toString()), told()),
  }
  port.admit('fragment', connection)
  const check = nominatingRequest('fragment:other', 'password', 1, Buffer.alloc(8))
  const sockets = Array.from({ length: 20 }, () => dgram.createSocket('udp4'))
  for (const socket of sockets) {
    onTestFinished(() => void socket.close())
    await once(socket.bind(0, '127.0.0.1'), 'listening')
    const arrived = new Promise<void>((resolve) => (told = resolve))
    socket.send(check, number, '127.0.0.1')
    await arrived
  }

  // They arrive in the order of sending.
  const last = new Promise<void>((resolve) => (told = () => heard.includes('19') && resolve()))
  for (const [index, socket] of sockets.entries()) {
    await new Promise((resolve) => socket.send(String(index), number, '127.0.0.1', resolve))
  }
  await last
  expect(heard).toEqual(Array.from({ length: 16 }, (_, index) => String(index + 4)))

  port.remove(connection)
  const ended = new Promise<void>((resolve) => (told = resolve))
  port.admit('fragment', connection)
  sockets[5]?.send('after the end', number, '127.0.0.1')
  sockets[5]?.send(check, number, '127.0.0.1')
  await ended
  expect(heard).not.toContain('after the end')
})
