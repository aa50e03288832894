import { describe, expect, test } from 'vitest'
import { ControlClient } from '../../../../server/nodes/embedded/control-client.ts'
import { DeviceJoinError, NodeConnectionError, NodeError } from '../../../../server/nodes/port/media-node-port.ts'
import { controlVersion } from '../../../../shared/media/control.ts'
import { parseDeviceAddress } from '../../../../shared/device-address.ts'
import { ScriptedProcess } from './scripted-process.ts'

const never = new AbortController().signal

function connected() {
  const process = new ScriptedProcess()
  const events: unknown[] = []
  const log: string[] = []
  const write = (_: object, message: string): void => void log.push(message)
  const client = new ControlClient(process, { joined: (joined) => events.push(joined) }, (why) => events.push(why), {
    debug: write,
    info: write,
    warn: write,
    error: write,
  })
  return { process, client, events, log }
}

describe('messages to the process of the embedded node', () => {
  test('answers match their requests in any order', async () => {
    const { process, client } = connected()
    const users = client.link.request('users', { roomId: 'a' }, never)
    const rooms = client.link.request('rooms', {}, never)
    process.says({ type: 'answer', id: 2, result: { roomIds: ['a'] } })
    process.says({ type: 'answer', id: 1, result: { users: [] } })
    expect(await rooms).toEqual({ roomIds: ['a'] })
    expect(await users).toEqual({ users: [] })
  })

  test('a failure is a NodeError, a device failure a DeviceJoinError with its kind', async () => {
    const { process, client } = connected()
    const closing = client.link.request('close_room', { roomId: 'a' }, never)
    const device = { userId: 'd', userName: 'D', address: parseDeviceAddress('rtsp://10.0.0.8/') }
    const joining = client.link.request('add_device', { roomId: 'a', device, leftMs: 1_000 }, never)
    process.says({ type: 'failure', id: 1, failure: { reason: 'other', message: 'no' } })
    const detail = '401 Unauthorized to DESCRIBE'
    process.says({ type: 'failure', id: 2, failure: { reason: 'device', kind: 'auth', message: 'it refused', detail } })
    await expect(closing).rejects.toThrow(NodeError)
    await expect(joining).rejects.toThrow(DeviceJoinError)
    await expect(joining).rejects.toMatchObject({ kind: 'auth', detail: '401 Unauthorized to DESCRIBE' })
  })

  test('a caller that gives up gets its own reason; the process is notified, and a late success is handled', async () => {
    const { process, client } = connected()
    const giveUp = new AbortController()
    let late = 0
    const asked = client.link.request('rooms', {}, giveUp.signal, () => late++)
    const reason = new Error('the deadline passed')
    giveUp.abort(reason)
    await expect(asked).rejects.toBe(reason)
    expect(process.sent.at(-1)).toEqual({ type: 'cancel', id: 1 })
    process.says({ type: 'answer', id: 1, result: { roomIds: [] } })
    process.says({ type: 'answer', id: 1, result: { roomIds: [] } })
    expect(late).toBe(1)
    await expect(client.link.request('rooms', {}, giveUp.signal)).rejects.toBe(reason)
  })

  test('when the process ends, all pending requests fail, and so do later ones', async () => {
    const { process, client, events } = connected()
    const asked = client.link.request('rooms', {}, never)
    process.ends('it was ended by SIGKILL')
    await expect(asked).rejects.toThrow(NodeConnectionError)
    await expect(client.hello).rejects.toThrow('SIGKILL')
    await expect(client.link.request('rooms', {}, never)).rejects.toThrow('SIGKILL')
    await client.exited
    expect(events).toEqual(['it was ended by SIGKILL'])
  })

  test('malformed messages are logged or refused, and change nothing', async () => {
    const { process, client, events, log } = connected()
    process.says({ type: 'notification', method: 'joined', params: { roomId: 7 } })
    process.says({ type: 'gossip' })
    process.says({ type: 'answer', id: 99, result: {} })
    expect(events).toEqual([])
    expect(log).toHaveLength(2)
    const asked = client.link.request('health', {}, never)
    process.says({ type: 'answer', id: 1, result: { rooms: 'many' } })
    await expect(asked).rejects.toThrow('malformed')
  })

  test('a program of another version is refused', async () => {
    const { process, client } = connected()
    process.says({ type: 'notification', method: 'hello', params: { version: controlVersion + 1 } })
    await expect(client.hello).rejects.toThrow('another version')
  })
})

test('a process that exits unnoticed does not break callers that give up or kill it', async () => {
  const { process, client, log } = connected()
  process.says({ type: 'notification', method: 'hello', params: { version: controlVersion } })
  const caller = new AbortController()
  const request = client.link.request('rooms', {}, caller.signal)
  process.send = () => {
    throw new Error('ERR_IPC_CHANNEL_CLOSED')
  }
  process.kill = () => {
    throw new Error('ESRCH')
  }
  caller.abort(new Error('given up'))
  await expect(request).rejects.toThrow('given up')
  client.kill()
  expect(log).toEqual([
    'embedded node: a request could not be cancelled',
    'the process of the embedded node could not be ended',
  ])
})
