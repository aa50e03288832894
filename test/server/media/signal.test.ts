import { once } from 'node:events'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import WebSocket from 'ws'
import { unverifiedClaims } from '../../../shared/files/signed-tokens.ts'
import type { ToPerson } from '../../../shared/media/signal.ts'
import { startTestCamera } from '../../support/camera/test-camera.ts'
import type { Windows } from '../../support/chromium.ts'
import { MediaPage, openMediaWindows } from '../../support/media/browser.ts'

import { offerSdp } from '../../support/media/offer.ts'
import { SignalClient } from '../../support/media/signal-client.ts'
import { sharedMediaNode } from '../../support/fixtures.ts'

// Long timeouts for browsers and cameras on a busy machine.
vi.setConfig({ testTimeout: 45_000, hookTimeout: 45_000 })

/** Time to resume, long enough on a busy machine. */
const resumeMs = 1_500

const node = sharedMediaNode({
  settings: { resume_ms: resumeMs, ice_servers: [{ urls: ['stun:stun.example.org'], username: '', credential: '' }] },
})

/** Joins by a personal link. */
async function enter(roomId: string, userId: string): Promise<SignalClient> {
  const token = node().token(roomId, { userId, userName: userId.toUpperCase() })
  const client = await SignalClient.join(node().url, roomId, { token })
  onTestFinished(() => client.drop())
  return client
}

/** Joins by the host password: the node assigns the id. */
async function enterAsHost(roomId: string, host_password: string): Promise<SignalClient> {
  const client = await SignalClient.join(node().url, roomId, { host_password, user_id: 'host' })
  onTestFinished(() => client.drop())
  return client
}

const refusal = async (attempt: Promise<unknown>): Promise<string> =>
  await attempt.then(
    () => 'let in',
    (error: unknown) => String(error),
  )

const about = (type: ToPerson['type'], userId: string) => (message: ToPerson) =>
  message.type === type && JSON.stringify(message).includes(`"user_id":"${userId}"`)

describe('joining and leaving', () => {
  test('a joining user receives the users and streams of the room, and the others are notified', async () => {
    await using camera = await startTestCamera({ sound: 'pcmu' })
    await node().openRoom('come', { topic: 'Morning round' })
    await node().addDevice('come', 'cam', camera.url, { assistAddress: camera.smallUrl, userName: 'Door' })
    const ann = await enter('come', 'ann')
    expect(ann.joined).toMatchObject({
      resumed: false,
      resume_ms: resumeMs,
      you: { user_id: 'ann', user_name: 'ANN', role: 'member', device: false, away: false, audio: false },
      room: { room_id: 'come', topic: 'Morning round', mode: 1, peer_to_peer: false },
      streams: [{ stream_id: 'cam', user_id: 'cam', video_codec: 'H264', audio_codec: 'PCMU', small: true }],
      ice_servers: [{ urls: ['stun:stun.example.org'] }],
    })
    expect(ann.joined.people.map(({ user_id }) => user_id)).toEqual(['cam', 'ann'])
    const bob = await enter('come', 'bob')
    expect(await ann.next('person_joined')).toMatchObject({ person: { user_id: 'bob', user_name: 'BOB' } })
    expect(bob.messages.filter(({ type }) => type === 'person_joined')).toEqual([])
    expect(await node().userIds('come')).toEqual(['cam', 'ann', 'bob'])
    bob.send({ type: 'leave' })
    expect(await ann.next('person_left')).toEqual({ type: 'person_left', user_id: 'bob' })
    await bob.closed
    const ofBob = node().events.filter((event) => 'user' in event && event.user.userId === 'bob')
    expect(ofBob.filter((event) => 'roomId' in event && event.roomId === 'come')).toHaveLength(1)
    await expect.poll(() => node().events).toContainEqual({ type: 'left', roomId: 'come', userId: 'bob' })
    ann.forget()
    camera.close()
    await ann.next(about('person_left', 'cam'))
    expect(await ann.next('stream_removed')).toEqual({ type: 'stream_removed', stream_id: 'cam' })
  })

  test('everybody is notified of a stream that a session publishes', async () => {
    await node().openRoom('streams')
    const [ann, bob] = [await enter('streams', 'ann'), await enter('streams', 'bob')]
    const headers = { 'content-type': 'application/sdp', authorization: `Bearer ${ann.joined.session}` }
    const body = offerSdp({ direction: 'sendonly' })
    const posted = await fetch(`${node().url}/whip/streams?source=screen`, { method: 'POST', headers, body })
    expect(posted.status).toBe(201)
    expect(await bob.next('stream_added')).toMatchObject({
      stream: { stream_id: 'ann~screen', user_id: 'ann', source: 'screen', video_codec: 'VP8', small: false },
    })
    await fetch(`${node().url}${posted.headers.get('location') ?? ''}`, { method: 'DELETE' })
    await bob.next('stream_removed')
    expect(await node().userIds('streams')).toEqual(['ann', 'bob'])
  })

  test('a user who lost the connection is away, resumes as the same user, and receives the messages sent meanwhile', async () => {
    await node().openRoom('back', { mode: 3 })
    const [ann, bob] = [await enter('back', 'ann'), await enter('back', 'bob')]
    ann.drop()
    expect(await bob.next('person_changed')).toMatchObject({ person: { user_id: 'ann', away: true } })
    bob.send({ type: 'chat', text: 'Are you there?' })
    bob.send({ type: 'relay', to: 'ann', payload: { kind: 'bye' } })
    await bob.next('chat')
    bob.forget()
    const again = await SignalClient.resume(node().url, ann.joined.session)
    onTestFinished(() => again.drop())
    expect(again.joined).toMatchObject({
      resumed: true,
      session: ann.joined.session,
      you: { user_id: 'ann', away: false },
    })
    expect(again.joined.chat.map(({ text }) => text)).toEqual(['Are you there?'])
    expect(await again.next('relay')).toEqual({ type: 'relay', from: 'bob', payload: { kind: 'bye' } })
    expect(await bob.next('person_changed')).toMatchObject({ person: { user_id: 'ann', away: false } })
    expect(await node().userIds('back')).toEqual(['ann', 'bob'])
    expect(
      node().events.filter((event) => 'roomId' in event && event.roomId === 'back' && event.type === 'left'),
    ).toEqual([])
  })

  test('a user who does not return in time has left and cannot resume', async () => {
    await node().openRoom('gone')
    const [ann, bob] = [await enter('gone', 'ann'), await enter('gone', 'bob')]
    ann.drop()
    await bob.next('person_left')
    expect(await node().userIds('gone')).toEqual(['bob'])
    expect(await refusal(SignalClient.resume(node().url, ann.joined.session))).toContain('404 noSession')
  })

  test('a second page with the same link replaces the first one', async () => {
    await node().openRoom('same')
    const [first, second] = [await enter('same', 'ann'), await enter('same', 'ann')]
    expect(await first.next('removed')).toEqual({ type: 'removed', reason: 'replaced' })
    await first.closed
    expect(await node().userIds('same')).toEqual(['ann'])
    second.send({ type: 'ping', id: 7 })
    expect(await second.next('pong')).toEqual({ type: 'pong', id: 7 })
  })

  test('a room notifies users of changes and of its end', async () => {
    await node().openRoom('changes')
    const ann = await enter('changes', 'ann')
    await node().openRoom('changes', { topic: 'New', locked: true })
    expect(await ann.next('room_changed')).toEqual({ type: 'room_changed', topic: 'New', locked: true })
    expect(await refusal(enter('changes', 'bob'))).toContain('403 locked')
    await node().request('close_room', { roomId: 'changes' })
    expect(await ann.next('removed')).toEqual({ type: 'removed', reason: 'closed' })
    expect(await refusal(enter('changes', 'bob'))).toContain('404 noRoom')
  })

  test('users are asked to reconnect when their room moves to another node', async () => {
    await node().openRoom('moves')
    const ann = await enter('moves', 'ann')
    await node().request('close_room', { roomId: 'moves', moves: true })
    expect(await ann.next('removed')).toEqual({ type: 'removed', reason: 'restarting' })
  })
})

describe('admission', () => {
  test('a full room answers 507', async () => {
    await node().openRoom('full', { attendeeMax: 1 })
    await enter('full', 'ann')
    expect(await refusal(enter('full', 'bob'))).toContain('507 roomFull')
  })

  test('without a link a user is refused, with the host password they are host; wrong passwords are counted', async () => {
    await node().openRoom('door', { hostPassword: '密码 1' })
    expect(await refusal(SignalClient.join(node().url, 'door'))).toContain('401 unauthorised')
    expect(await refusal(SignalClient.join(node().url, 'door', { token: node().token('other') }))).toContain('401')
    expect(
      await refusal(SignalClient.join(node().url, 'door', { token: node().token('door', { role: 'observer' }) })),
    ).toContain('401')
    const { you } = (await enterAsHost('door', '密码 1')).joined
    expect(you).toMatchObject({ user_id: expect.stringMatching(/^guest-[0-9a-f]{12}$/), role: 'host' })
    // The controller may receive it after the user does, over its own connection.
    await expect
      .poll(() => node().events)
      .toContainEqual({
        type: 'joined',
        roomId: 'door',
        user: expect.objectContaining({ userId: you.user_id, role: 'host' }),
      })
    // A member who also knows the password is host.
    const both = { token: node().token('door', { userId: 'both' }), host_password: '密码 1' }
    const client = await SignalClient.join(node().url, 'door', both)
    onTestFinished(() => client.drop())
    expect(client.joined.you).toMatchObject({ user_id: 'both', role: 'host' })
    for (let i = 0; i < 10; i++) expect(await refusal(enterAsHost('door', 'wrong'))).toContain('hostPasswordWrong')
    expect(await refusal(enterAsHost('door', '密码 1'))).toContain('429 tooMany')
  })

  test('an id belongs to its personal link: a request for it by another link gets a generated one', async () => {
    await node().openRoom('taken')
    await enter('taken', 'ann')
    for (const [user_id, user_name] of [
      ['ann', 'Bob'],
      ['bob', 'Bob (2)'],
    ] as const) {
      const wish = { token: node().token('taken'), user_id, user_name: 'Bob' }
      const other = await SignalClient.join(node().url, 'taken', wish)
      onTestFinished(() => other.drop())
      const { you } = other.joined
      expect(you).toMatchObject({ user_id: expect.stringMatching(/^guest-[0-9a-f]{12}$/), user_name })
    }
  })

  test('the number behind a name is free once its user left, unless the chat has lines of theirs', async () => {
    await node().openRoom('tabs')
    const comes = async (): Promise<SignalClient> => {
      const client = await SignalClient.join(node().url, 'tabs', { token: node().token('tabs'), user_name: 'Dana' })
      onTestFinished(() => client.drop())
      return client
    }
    const leaves = async (client: SignalClient): Promise<void> => {
      client.send({ type: 'leave' })
      await client.closed
    }
    const nameOf = ({ joined }: SignalClient): string => joined.you.user_name
    expect(nameOf(await comes())).toBe('Dana')
    for (const _tab of [1, 2, 3]) {
      const tab = await comes()
      expect(nameOf(tab)).toBe('Dana (2)')
      await leaves(tab)
    }
    const writes = await comes()
    writes.send({ type: 'chat', text: 'hello' })
    await writes.next('chat')
    await leaves(writes)
    expect(nameOf(await comes())).toBe('Dana (3)')
  })

  test('each browser of a shared link is its own user: removing one affects nobody else, and a newer link readmits them', async () => {
    await node().openRoom('shared')
    const token = node().token('shared')
    const come = async (browser: string, user_name: string, link = token): Promise<SignalClient> => {
      const client = await SignalClient.join(node().url, 'shared', {
        token: link,
        browser: browser.repeat(16),
        user_name,
      })
      onTestFinished(() => client.drop())
      return client
    }
    const [ann, bo] = [await come('a', 'Ann'), await come('b', 'Bo')]
    const { user_id } = ann.joined.you
    // The same browser is the same user, under its new name.
    expect((await come('a', 'Anna')).joined.you).toMatchObject({ user_id, user_name: 'Anna' })
    expect(await node().request('kick', { roomId: 'shared', userId: user_id })).toEqual({ kicked: true })
    expect(await refusal(come('a', 'Ann'))).toContain('403 removed')
    const cleo = await come('c', 'Cleo')
    expect(cleo.joined.people.map(({ user_name }) => user_name)).toEqual(['Bo', 'Cleo'])
    bo.send({ type: 'ping', id: 1 })
    await bo.next('pong')
    // The ban is over.
    const at = Date.now()
    await node().request('note_removal', { roomId: 'shared', userId: user_id, tokenId: '', at, until: at })
    expect(await refusal(come('a', 'Ann'))).toContain('403 removed')
    await expect.poll(() => Date.now()).toBeGreaterThan(at)
    expect((await come('a', 'Ann', node().token('shared'))).joined.you.user_id).toBe(user_id)
  })

  test('a revoked link admits nobody; revoking all links affects all made before; users in the room stay', async () => {
    await node().openRoom('revoked')
    const [one, other] = [node().token('revoked'), node().token('revoked', { userId: 'bo' })]
    const ann = await SignalClient.join(node().url, 'revoked', { token: one })
    onTestFinished(() => ann.drop())
    const id = unverifiedClaims('join-token', one)?.id ?? ''
    const revoke = async (tokenId: string, at: number): Promise<void> => {
      await node().request('note_removal', { roomId: 'revoked', userId: '', tokenId, at, until: at })
    }
    await revoke(id, Date.now())
    expect(await refusal(SignalClient.join(node().url, 'revoked', { token: one }))).toContain('401 unauthorised')
    const joined = await SignalClient.join(node().url, 'revoked', { token: other })
    onTestFinished(() => joined.drop())
    const at = Date.now()
    await revoke('', at)
    expect(await refusal(SignalClient.join(node().url, 'revoked', { token: other }))).toContain('401 unauthorised')
    await expect.poll(() => Date.now()).toBeGreaterThan(at)
    const bo = await SignalClient.join(node().url, 'revoked', { token: node().token('revoked', { userId: 'bo' }) })
    onTestFinished(() => bo.drop())
    ann.send({ type: 'ping', id: 1 })
    await ann.next('pong')
  })
})

describe('in the room', () => {
  test('chat reaches everybody, including users who join later', async () => {
    await node().openRoom('chat')
    const [ann, bob] = [await enter('chat', 'ann'), await enter('chat', 'bob')]
    ann.send({ type: 'chat', text: ' 你好 <b> ' })
    for (const each of [ann, bob]) {
      expect(await each.next('chat')).toMatchObject({ line: { user_id: 'ann', user_name: 'ANN', text: '你好 <b>' } })
    }
    expect((await enter('chat', 'cat')).joined.chat.map(({ text }) => text)).toEqual(['你好 <b>'])
    ann.send({ type: 'chat', text: '  ' })
    expect(await ann.next('error')).toMatchObject({ reason: 'badRequest' })
    bob.forget()
    for (let i = 0; i < 120; i++) ann.send({ type: 'chat', text: String(i) })
    await bob.next((message) => message.type === 'chat' && message.line.text === '119')
    expect((await enter('chat', 'dan')).joined.chat.map(({ text }) => text)).toEqual(
      Array.from({ length: 100 }, (_, index) => String(index + 20)),
    )
  })

  test('a host mutes and removes users; a member cannot, and nobody can remove a camera', async () => {
    await using camera = await startTestCamera()
    await node().openRoom('host', { hostPassword: 'secret' })
    await node().addDevice('host', 'cam', camera.url)
    const [host, ann, bob] = [
      await enterAsHost('host', 'secret'),
      await enter('host', 'ann'),
      await enter('host', 'bob'),
    ]
    ann.send({ type: 'state', audio: true, video: true })
    await bob.next((message) => message.type === 'person_changed' && message.person.audio)
    bob.send({ type: 'mute', user_id: 'ann', kind: 'audio' })
    expect(await bob.next('error')).toMatchObject({ reason: 'forbidden' })
    bob.forget()
    bob.send({ type: 'remove', user_id: 'ann' })
    expect(await bob.next('error')).toMatchObject({ reason: 'forbidden' })
    host.send({ type: 'mute', user_id: 'ann', kind: 'audio' })
    expect(await ann.next('muted')).toEqual({ type: 'muted', by: host.joined.you.user_id, kind: 'audio' })
    await bob.next((message) => message.type === 'person_changed' && !message.person.audio && message.person.video)
    for (const message of [
      { type: 'mute', user_id: 'nobody', kind: 'video' },
      { type: 'mute', user_id: 'cam', kind: 'video' },
      { type: 'remove', user_id: 'nobody' },
      { type: 'remove', user_id: 'cam' },
    ]) {
      host.forget()
      host.send(message)
      await host.next('error')
    }
    host.send({ type: 'remove', user_id: 'ann' })
    expect(await ann.next('removed')).toEqual({ type: 'removed', reason: 'kicked' })
    await bob.next('person_left')
    expect(await node().userIds('host')).toEqual(['cam', host.joined.you.user_id, 'bob'])
    await expect.poll(() => node().events).toContainEqual({ type: 'left', roomId: 'host', userId: 'ann' })
    expect(await refusal(enter('host', 'ann'))).toContain('403 removed')
  })

  test('users of a room with a server do not relay', async () => {
    await node().openRoom('server')
    const [ann] = [await enter('server', 'ann'), await enter('server', 'bob')]
    ann.send({ type: 'relay', to: 'bob', payload: { kind: 'bye' } })
    expect(await ann.next('error')).toMatchObject({ reason: 'badRequest' })
  })
})

describe('invalid messages of clients', () => {
  async function connected(path = '/signal'): Promise<WebSocket> {
    const socket = new WebSocket(`${node().url.replace('http', 'ws')}${path}`)
    socket.on('error', () => {})
    await once(socket, 'open')
    return socket
  }

  test.each([
    ['no JSON', 'hello'],
    ['no object', '7'],
    ['another first message', JSON.stringify({ type: 'chat', text: 'x' })],
    ['another version', JSON.stringify({ type: 'join', version: 99, room_id: 'wrong' })],
    ['an id reserved by the node', JSON.stringify({ type: 'join', version: 1, room_id: 'wrong', user_id: 'x~screen' })],
    ['a long name', JSON.stringify({ type: 'join', version: 1, room_id: 'wrong', user_name: 'x'.repeat(300) })],
    ['a made-up session', JSON.stringify({ type: 'resume', version: 1, session: 'x'.repeat(32) })],
    ['a prototype', '{"__proto__":{"type":"join"}}'],
  ])('%s is refused and the connection closed', async (_what, text) => {
    await node().openRoom('wrong')
    const socket = await connected()
    socket.send(text)
    const [data] = (await once(socket, 'message')) as [Buffer]
    expect(JSON.parse(data.toString())).toMatchObject({ type: 'refused' })
    await once(socket, 'close')
    expect(await node().userIds('wrong')).toEqual([])
  })

  test('a message that is too long, and a flood, end the connection; the user may resume', async () => {
    await node().openRoom('flood')
    const ann = await enter('flood', 'ann')
    ann.socket.send('x'.repeat(70_000))
    expect(await ann.closed).toBe(1009)
    const again = await SignalClient.resume(node().url, ann.joined.session)
    onTestFinished(() => again.drop())
    for (let i = 0; i < 2_000; i++) again.send({ type: 'ping', id: i })
    await again.closed
    const resumeed = await SignalClient.resume(node().url, ann.joined.session)
    onTestFinished(() => resumeed.drop())
  })

  test('no other path opens a WebSocket', async () => {
    await expect(connected('/other')).rejects.toThrow()
    expect((await fetch(`${node().url}/signal`)).status).toBe(404)
  })
})

test('in a peer-to-peer room the node relays signalling, and the browsers send to each other', async () => {
  const browser: Windows = await openMediaWindows()
  try {
    await node().openRoom('peers', { mode: 4 })
    const [ann, bob] = [await enter('peers', 'ann'), await enter('peers', 'bob')]
    expect(ann.joined.room).toMatchObject({ mode: 4, peer_to_peer: true })
    const [one, two] = await Promise.all([MediaPage.open(browser, node().url), MediaPage.open(browser, node().url)])
    const relayed = async (client: SignalClient, kind: 'offer' | 'answer'): Promise<string> => {
      const message = await client.next<'relay'>(
        (each) => each.type === 'relay' && (each.payload as { kind: string }).kind === kind,
      )
      return (message.payload as { sdp: string }).sdp
    }
    const offer = await one.call('peerOffer', 'own')
    ann.send({ type: 'relay', to: 'bob', payload: { kind: 'offer', sdp: offer } })
    const answer = await two.call('peerAnswer', 'ann', await relayed(bob, 'offer'))
    bob.send({ type: 'relay', to: 'ann', payload: { kind: 'answer', sdp: answer } })
    await one.call('peerFinish', 'own', await relayed(ann, 'answer'))
    for (const { candidate, sdpMid } of await one.call('peerCandidates', 'own')) {
      ann.send({ type: 'relay', to: 'bob', payload: { kind: 'candidate', candidate, mid: sdpMid } })
    }
    ann.send({ type: 'relay', to: 'bob', payload: { kind: 'bye' } })
    await bob.next((each) => each.type === 'relay' && (each.payload as { kind: string }).kind === 'bye')
    for (const message of bob.messages) {
      const payload =
        message.type === 'relay' ? (message.payload as { kind: string; candidate: string; mid: string }) : undefined
      if (payload?.kind === 'candidate') await two.call('peerAddress', 'ann', payload.candidate, payload.mid)
    }
    await two.decodes('ann', 10)
    ann.send({ type: 'relay', to: 'nobody', payload: { kind: 'bye' } })
    expect(await ann.next('error')).toMatchObject({ reason: 'noStream' })
    expect((await node().request('stats', { roomId: 'peers' })).streams).toEqual([])
  } finally {
    await browser.close()
  }
})
