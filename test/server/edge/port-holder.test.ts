import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { listenError, portHolder, PortInUseError } from '../../../server/edge/listen-error.ts'

const program = `
  const server = require('node:net').createServer()
  server.listen(0, process.argv[1], () => console.log(server.address().port))
`
let child: ChildProcess | undefined
afterEach(async () => {
  const ended = child === undefined ? undefined : once(child, 'exit')
  child?.kill()
  child = undefined
  await ended
})

/** Starts another program that listens on a free port of this address. */
async function blocker(host: string): Promise<{ port: number; pid: number }> {
  const started = spawn(process.execPath, ['-e', program, host], { stdio: ['ignore', 'pipe', 'inherit'] })
  child = started
  const [text] = (await once(started.stdout, 'data')) as [Buffer]
  return { port: Number(text.toString()), pid: started.pid ?? 0 }
}

describe.runIf(process.platform === 'linux')('The process that holds a port', () => {
  test.each(['127.0.0.1', '0.0.0.0', '::'])('is named when it listens on %s', async (host) => {
    const { port, pid } = await blocker(host)
    expect(portHolder('127.0.0.1', port)).toEqual({ pid, name: 'node' })
  })

  test('is not a process that listens on the same port of another address', async () => {
    const { port } = await blocker('127.0.0.2')
    expect(portHolder('127.0.0.1', port)).toBeUndefined()
    expect(portHolder('0.0.0.0', port)).toBeDefined()
  })

  test('is named in the message for the operator', async () => {
    const { port, pid } = await blocker('127.0.0.1')
    const server = createServer().listen(port, '127.0.0.1')
    const [error] = (await once(server, 'error')) as [unknown]
    const named = listenError(error, 'media', '127.0.0.1', port)
    expect(named).toBeInstanceOf(PortInUseError)
    expect(named).toMatchObject({ message: `Port ${port} on 127.0.0.1 is in use by node (process ${pid}).` })
  })

  test('is undefined if the port is free', () => {
    expect(portHolder('127.0.0.1', 1)).toBeUndefined()
  })
})
