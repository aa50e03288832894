import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import tls from 'node:tls'
import { generate } from 'selfsigned'
import { expect, onTestFinished, test } from 'vitest'
import { openTlsTunnel, type TlsTunnel } from '../../../server/edge/outgoing-tls.ts'

/** An RTMP server behind TLS is reached at the address that was checked, if its certificate is of the name that the client wrote. */

const made = await generate([{ name: 'commonName', value: 'live.example' }], {
  keyType: 'ec',
  extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'live.example' }] }],
})
const never = new AbortController().signal

/** Starts a server that answers everything in capitals. Returns its port and its connections. */
async function shouting(): Promise<{ port: number; sockets: Set<net.Socket> }> {
  const sockets = new Set<net.Socket>()
  const server = tls.createServer({ key: made.private, cert: made.cert }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (bytes: Buffer) => socket.write(bytes.toString().toUpperCase()))
  })
  server.on('tlsClientError', () => {})
  return { port: await listening(server), sockets }
}

async function listening(server: net.Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

async function opened(tunnel: TlsTunnel): Promise<net.Socket> {
  const socket = net.connect(tunnel.port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

test('Written data arrives at the server, and its answers return', async () => {
  const { port, sockets } = await shouting()
  const target = { address: '127.0.0.1', port, host: 'live.example' }
  const tunnel = await openTlsTunnel(target, [made.cert], never)
  const socket = await opened(tunnel)
  socket.write('hello')
  expect(String((await once(socket, 'data'))[0])).toBe('HELLO')
  // The program ends: so does the connection to the server.
  const [far] = sockets
  socket.destroy()
  if (far !== undefined && !far.destroyed) await once(far, 'close')
  expect(sockets.size).toBe(0)
})

test('When the server closes, so does the connection of the program', async () => {
  const { port, sockets } = await shouting()
  using tunnel = await openTlsTunnel({ address: '127.0.0.1', port, host: 'live.example' }, [made.cert], never)
  const socket = await opened(tunnel)
  socket.write('hello')
  await once(socket, 'data')
  for (const far of sockets) far.destroy()
  await once(socket, 'close')
})

test('No other program gets the connection', async () => {
  const { port } = await shouting()
  using tunnel = await openTlsTunnel({ address: '127.0.0.1', port, host: 'live.example' }, [made.cert], never)
  const socket = await opened(tunnel)
  socket.write('mine')
  expect(String((await once(socket, 'data'))[0])).toBe('MINE')
  const other = net.connect(tunnel.port, '127.0.0.1')
  await expect(once(other, 'data')).rejects.toThrow(/ECONNREFUSED|ECONNRESET/)
  socket.destroy()
})

test('A certificate of an unknown issuer, or for another name, is refused with a sentence', async () => {
  const { port } = await shouting()
  const target = { address: '127.0.0.1', port, host: 'live.example' }
  await expect(openTlsTunnel(target, [], never)).rejects.toThrow('The certificate of live.example is not trusted')
  const other = { ...target, host: 'other.example' }
  await expect(openTlsTunnel(other, [made.cert], never)).rejects.toThrow(
    'The certificate of other.example is not trust',
  )
})

test('A server without TLS, a closed port, and a silent server are reported', async () => {
  const target = { address: '127.0.0.1', host: 'live.example' }
  const plain = net.createServer((socket) => socket.on('error', () => {}).end('not TLS'))
  await expect(openTlsTunnel({ ...target, port: await listening(plain) }, [], never)).rejects.toThrow('by TLS')
  const gone = net.createServer()
  const port = await listening(gone)
  gone.close()
  await expect(openTlsTunnel({ ...target, port }, [], never)).rejects.toThrow('ECONNREFUSED')
  const silent = net.createServer((socket) => socket.on('error', () => {}).resume())
  const stopped = new AbortController()
  const opening = openTlsTunnel({ ...target, port: await listening(silent) }, [], stopped.signal)
  silent.once('connection', () => stopped.abort())
  await expect(opening).rejects.toThrow('does not answer')
})
