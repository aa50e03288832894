import { describe, expect, onTestFinished, test } from 'vitest'
import { startTestCamera } from '../../../support/camera/test-camera.ts'

import { offerSdp } from '../../../support/media/offer.ts'
import { SignalClient } from '../../../support/media/signal-client.ts'
import { sharedMediaNode } from '../../../support/fixtures.ts'

const hostPassword = 'open sesame'
const guestIds = /^guest-[0-9a-f]{12}$/

const node = sharedMediaNode({ settings: { ban_ms: 60_000 } })

type How = NonNullable<Parameters<typeof SignalClient.join>[2]>

async function join(roomId: string, how: How, at = node()): Promise<SignalClient> {
  const client = await SignalClient.join(at.url, roomId, how)
  onTestFinished(() => client.drop())
  return client
}

async function resume(session: string): Promise<SignalClient> {
  const client = await SignalClient.resume(node().url, session)
  onTestFinished(() => client.drop())
  return client
}

const whip = async (roomId: string, token: string): Promise<Response> =>
  await fetch(`${node().url}/whip/${roomId}`, {
    method: 'POST',
    headers: { 'content-type': 'application/sdp', authorization: `Bearer ${token}` },
    body: offerSdp({ direction: 'sendonly' }),
  })

describe('a guest with the shared link', () => {
  test('gets an id made by the node instead of the requested one', async () => {
    await node().openRoom('wish', { hostPassword })
    const token = node().token('wish')
    for (const how of [{ token }, { host_password: hostPassword }]) {
      const guest = await join('wish', { ...how, user_id: 'ann' })
      expect(guest.joined.you.user_id).toMatch(guestIds)
    }
  })

  test('does not become host by requesting the id of the host’s browser before the host joins', async () => {
    await node().openRoom('squat', { hostPassword })
    const browser = 'the browser of the host'
    const once = await join('squat', { browser, host_password: hostPassword })
    const hostId = once.joined.you.user_id
    once.send({ type: 'leave' })
    await once.closed
    const squatter = await join('squat', { token: node().token('squat'), user_id: hostId })
    expect(squatter.joined.you.user_id).not.toBe(hostId)
    const host = await join('squat', { browser, host_password: hostPassword })
    expect(host.joined.you).toMatchObject({ user_id: hostId, role: 'host' })
    expect(host.joined.session).not.toBe(squatter.joined.session)
    squatter.drop()
    expect((await resume(squatter.joined.session)).joined.you.role).toBe('member')
  })

  test('who is removed does not block the host or the owner of a personal link', async () => {
    await node().openRoom('locked-out', { hostPassword })
    for (const user_id of ['host', 'ann']) {
      const guest = await join('locked-out', { token: node().token('locked-out'), user_id })
      await node().request('kick', { roomId: 'locked-out', userId: guest.joined.you.user_id })
      await node().request('kick', { roomId: 'locked-out', userId: user_id })
    }
    const link = node().token('locked-out', { userId: 'host', role: 'host' })
    expect((await join('locked-out', { token: link })).joined.you).toMatchObject({ user_id: 'host', role: 'host' })
    await join('locked-out', { token: node().token('locked-out', { userId: 'ann' }) })
  })

  test('returns under the same id with their own pass, and with nobody else’s', async () => {
    await node().openRoom('pass')
    const token = node().token('pass')
    const [bo, cy] = [await join('pass', { token }), await join('pass', { token })]
    const { user_id } = bo.joined.you
    expect((await join('pass', { token, user_id, pass: cy.joined.pass })).joined.you.user_id).not.toBe(user_id)
    const back = await join('pass', { token, user_id, pass: bo.joined.pass })
    expect(back.joined.you.user_id).toBe(user_id)
    expect(await bo.next('removed')).toEqual({ type: 'removed', reason: 'replaced' })
    await expect(resume(bo.joined.session)).rejects.toThrow('noSession')
    // The pass of a personal link proves nothing without the link.
    const ann = await join('pass', { token: node().token('pass', { userId: 'ann' }) })
    const other = await join('pass', { token, user_id: 'ann', pass: ann.joined.pass })
    expect(other.joined.you.user_id).toMatch(guestIds)
  })
})

describe('the role follows from the credentials', () => {
  test('a copy of a host’s member link makes nobody host, and no session of it becomes one', async () => {
    await node().openRoom('role')
    const asMember = node().token('role', { userId: 'ann' })
    const member = await join('role', { token: asMember })
    const host = await join('role', { token: node().token('role', { userId: 'ann', role: 'host' }) })
    expect(host.joined.you.role).toBe('host')
    await expect(resume(member.joined.session)).rejects.toThrow('noSession')
    expect((await join('role', { token: asMember })).joined.you.role).toBe('member')
    await expect(resume(host.joined.session)).rejects.toThrow('noSession')
  })

  test('a pass issued for the host password makes its owner host again, until the password changes', async () => {
    await node().openRoom('carries', { hostPassword })
    const how = { token: node().token('carries'), browser: 'the browser of Ann 1' }
    const ann = await join('carries', { ...how, host_password: hostPassword })
    expect((await join('carries', how)).joined.you.role).toBe('member')
    expect((await join('carries', { ...how, pass: ann.joined.pass })).joined.you.role).toBe('host')
    // Neither another user's pass nor a member's.
    const eve = await join('carries', { token: how.token, browser: 'the browser of Eve 1', pass: ann.joined.pass })
    expect(eve.joined.you.role).toBe('member')
    await node().openRoom('carries', { hostPassword: 'another' })
    expect((await join('carries', { ...how, pass: ann.joined.pass })).joined.you.role).toBe('member')
  })
})

describe('the id of a camera is reserved', () => {
  test('even while it is lost: nobody joins, sends or watches under it', async () => {
    await using camera = await startTestCamera()
    await node().openRoom('door')
    await node().addDevice('door', 'door', camera.url)
    const ann = await join('door', { token: node().token('door', { userId: 'ann' }) })
    camera.close()
    await ann.next((message) => message.type === 'person_left' && message.lost === true)
    const guest = await join('door', { token: node().token('door'), user_id: 'door' })
    expect(guest.joined.you.user_id).toMatch(guestIds)
    const named = node().token('door', { userId: 'door' })
    await expect(join('door', { token: named })).rejects.toThrow('409 taken')
    expect((await whip('door', named)).status).toBe(409)
    expect((await node().userIds('door')).includes('door')).toBe(false)
    // After its removal, its id is free.
    await node().request('remove_device', { roomId: 'door', userId: 'door' })
    expect((await join('door', { token: named })).joined.you.user_id).toBe('door')
  })
})

describe('one link does not fill a room', () => {
  test('a host, a user with a personal link and a user of another link find a place', async () => {
    await node().openRoom('full', { hostPassword, attendeeMax: 40 })
    const token = node().token('full')
    const refusals: string[] = []
    for (let turn = 0; turn < 30; turn++)
      await join('full', { token, browser: `a browser that it makes up ${turn}` }).catch((error: unknown) =>
        refusals.push(String(error)),
      )
    expect(new Set(refusals)).toEqual(new Set(['RefusedError: refused: 507 roomFull']))
    await join('full', { token: node().token('full') })
    await join('full', { token: node().token('full', { userId: 'ann' }) })
    expect((await join('full', { host_password: hostPassword })).joined.you.role).toBe('host')
    for (let turn = 0; turn < 20; turn++)
      await join('full', { token: node().token('full') }).catch((error: unknown) => refusals.push(String(error)))
    expect((await join('full', { token: node().token('full', { role: 'host' }) })).joined.you.role).toBe('host')
    await join('full', { token: node().token('full', { userId: 'bo' }) })
  })

  test('a user who leaves frees the place, even after rejoining', async () => {
    await node().openRoom('places', { attendeeMax: 4 })
    const token = node().token('places')
    const people = await Promise.all(
      [1, 2, 3].map(async (n) => await join('places', { token, browser: `browser ${n} of many` })),
    )
    await expect(join('places', { token })).rejects.toThrow('507 roomFull')
    for (let turn = 0; turn < 3; turn++) await join('places', { token, browser: 'browser 1 of many' })
    people[1]?.send({ type: 'leave' })
    await people[1]?.closed
    await join('places', { token })
  })
})
