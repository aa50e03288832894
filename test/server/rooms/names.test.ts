import { expect, test } from 'vitest'
import { guardFormula, unguardFormula } from '../../../shared/formula-guard.ts'
import { TestMediaNode } from '../../support/media/media-node.ts'
import { SignalClient } from '../../support/media/signal-client.ts'
import { controllerSite } from '../../support/sites/controller-site.ts'
import { liveSite } from '../../support/sites/live-site.ts'

/** A listing shows this as "annualexe.pdf". */
const turned = 'annual\u202Efdp.exe'
const meeting = { topic: 'Morning', owner_id: 'owner-1', room_mode: 1 }
/** All characters that change the text direction. */
const directions = [...'\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069']

test('The APIs refuse names, ids and topics with characters that change the text direction', async () => {
  const { client } = await liveSite()
  for (const mark of directions)
    expect(await client.get('/rtc/room/create', { ...meeting, topic: `a${mark}b` })).toMatchObject({ ret: 407 })
  for (const field of ['owner_id', 'room_extend_id'])
    expect(await client.get('/rtc/room/create', { ...meeting, [field]: turned })).toMatchObject({ ret: 407 })
  const { room_id } = await client.get('/rtc/room/create', { ...meeting, topic: 'שלום 会议 👩‍💻' })
  const roomId = String(room_id)
  expect(await client.get('/rtc/room/update', { room_id: roomId, topic: turned })).toMatchObject({ ret: 407 })
  const device = { roomId, userId: 'door', userName: 'Door', userAddress: 'rtsp://192.0.2.1/live' }
  for (const field of ['userId', 'userName']) {
    const refused = await client.outgoing('createOutgoingUser', { ...device, [field]: turned })
    expect(refused).toMatchObject({ ret: 401, msg: expect.stringContaining(field) })
  }
})

test('The console refuses such names in every field', async () => {
  const site = await controllerSite()
  const key = await site.key()
  const { room_id } = await site.call(key, 'rooms.create', { topic: 'Lobby' })
  const address = 'rtsp://192.0.2.1/live'
  const refused = [
    site.result(key, 'rooms.create', { topic: turned }),
    site.result(key, 'rooms.create', { topic: 'two\nlines' }),
    site.result(key, 'rooms.update', { room_id, topic: turned }),
    site.result(key, 'devices.create', { roomId: room_id, userName: turned, userAddress: address }),
    site.result(key, 'devices.create', { roomId: room_id, userName: 'tab\there', userAddress: address }),
    site.result(key, 'media.join_link', { room_id, user_name: 'a\n=1+1' }),
    site.result(key, 'media.join_link', { room_id, user_id: turned }),
    site.result(key, 'credentials.create', { label: turned }),
    site.result(key, 'wall.save', { name: turned, items: [{ kind: 'camera', id: 'gate' }] }),
  ]
  for (const { status, ...answer } of await Promise.all(refused))
    expect({ status, answer }).toMatchObject({ status: 400, answer: { ok: false, error: { code: 'invalid' } } })
})

test('No user joins with such a name, and the name of an older link is shown without them', async () => {
  await using node = await TestMediaNode.start()
  await node.openRoom('lobby')
  const token = node.token('lobby')
  for (const user_name of ['=1+1\n=2', turned, 'bell\u0007'])
    await expect(SignalClient.join(node.url, 'lobby', { token, user_name })).rejects.toThrow('refused: 400 badRequest')
  const older = node.token('lobby', { userId: 'ann', userName: turned })
  const ann = await SignalClient.join(node.url, 'lobby', { token: older })
  expect(ann.joined.you.user_name).toBe('annual\ufffdfdp.exe')
  ann.drop()
})

test('A cell that a spreadsheet would read as a formula is guarded, and reads back unchanged', () => {
  const sum = 'SUM(A1)'
  for (const sign of '=+-@\t\r＝＋－＠') {
    expect(guardFormula(`${sign}${sum}`)).toBe(`'${sign}${sum}`)
    expect(guardFormula(`Ann\n${sign}${sum}`)).toBe(`Ann\n'${sign}${sum}`)
    expect(guardFormula(`Ann\r\n'${sign}${sum}`)).toBe(`Ann\r\n''${sign}${sum}`)
  }
  for (const harmless of ['Ann', "O'Hara", 'a-b', '1+1', "'quoted'", '']) expect(guardFormula(harmless)).toBe(harmless)
  for (const cell of ["'=1", '=1\n=2', "''\r\n\r=", '\r\r=', "a\n''+b", 'Ann'])
    expect(unguardFormula(guardFormula(cell))).toBe(cell)
})
