import dgram from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import { expect, test } from 'vitest'
import type { CallOrigin } from '../../../server/console/handlers.ts'
import type { ToPerson } from '../../../shared/media/signal.ts'
import { startJanus } from '../../support/janus/janus-server.ts'
import { RoomPeer } from '../../support/janus/room-peers.ts'
import type { Arrivals } from '../../support/media/arrivals.ts'
import { offerSdp } from '../../support/media/offer.ts'
import { SignalClient } from '../../support/media/signal-client.ts'
import { WhepPeer } from '../../support/media/whep-peer.ts'
import { type Publishing, WhipPeer } from '../../support/media/whip-peer.ts'
import { MediaSite } from '../../support/sites/media-site.ts'
import { shared } from '../../support/fixtures.ts'

/** A site whose rooms are on a Janus server with tokens: people join through the room page's process, and their media goes straight to Janus. */
const janus = shared(() => startJanus({ tokenSecret: 'a secret that signs tokens' }))
const site = shared(async () => {
  const site = await MediaSite.start({ nodes: [janus().asNode('j')] })
  await site.until(async () => (await site.rpc('nodes.list', {})).some(({ state }) => state === 'online'))
  // On a busy machine the process may take longer.
  await site.until(() => site.nodeUrl !== '')
  return site
})

const operator: CallOrigin = {
  transport: 'websocket',
  client: '192.0.2.7',
  role: 'operator',
  way: 'password',
  account: 'ola',
}

const tokenOf = (url: string): string => new URL(url).hash.replace('#token=', '')

const newRoom = async (topic: string): Promise<string> => {
  const { room_id } = await site().rpc('rooms.create', { topic })
  await site().api.get('/sdk/get_mcu', { room_id })
  return room_id
}

/** Joins through the page. */
async function enter(
  room_id: string,
  user_id: string,
  role: 'member' | 'host' = 'member',
  more: { pass?: string } = {},
): Promise<SignalClient> {
  const { url } = await site().rpc('media.join_link', { room_id, user_id, user_name: user_id, role })
  return await SignalClient.join(site().nodeUrl, room_id, { token: tokenOf(url), ...more })
}

const publish = (room: string, { joined }: SignalClient, query = '', how: Publishing = {}): Promise<WhipPeer> =>
  WhipPeer.open(`${site().nodeUrl}/whip/${room}${query}`, joined.session, { anyAddress: true, ...how })

async function watch(room: string, { joined }: SignalClient, stream: string): Promise<WhepPeer> {
  return await WhepPeer.openOffered(`${site().nodeUrl}/whep/${room}/${stream}`, joined.session)
}

/** Waits for this many more packets. */
const flows = async (arrivals: Arrivals, more = 20): Promise<void> => {
  const before = arrivals.received
  await expect.poll(() => arrivals.received, { timeout: 5_000 }).toBeGreaterThan(before + more)
}

test('nobody hears a user muted by a host or the operator until they unmute, whatever their page sends', async () => {
  const room = await newRoom('Mute')
  const [host, bob] = [await enter(room, 'ann', 'host'), await enter(room, 'bob')]
  const sender = await publish(room, bob)
  await host.next(({ type }) => type === 'stream_added')
  bob.send({ type: 'state', audio: true, video: true })
  const viewer = await watch(room, host, 'bob')
  await flows(viewer.audio)
  for (const [kind, by, muted, other] of [
    ['audio', 'ann', viewer.audio, viewer.video],
    ['video', 'ann', viewer.video, viewer.audio],
    ['audio', '', viewer.audio, viewer.video],
  ] as const) {
    bob.forget()
    if (by === '') await site().rpc('rooms.mute', { room_id: room, user_id: 'bob' })
    else host.send({ type: 'mute', user_id: 'bob', kind })
    expect(await bob.next((message) => message.type === 'muted' && message.kind === kind)).toMatchObject({ by })
    await expect
      .poll(
        async () => {
          const before = muted.received
          await flows(other)
          return muted.received - before
        },
        { timeout: 5_000 },
      )
      .toBe(0)
    bob.send({ type: 'state', audio: true, video: true })
    await flows(muted)
  }
  // A member cannot mute others.
  bob.send({ type: 'mute', user_id: 'ann', kind: 'audio' })
  expect(await bob.next('error')).toMatchObject({ reason: 'forbidden' })
  await viewer.close()
  await sender.close()
})

test('everybody sees the speakers, including users who join later; muted and silent users are not among them', async () => {
  const room = await newRoom('Speaking')
  const [ann, bob] = [await enter(room, 'ann', 'host'), await enter(room, 'bob')]
  const speaking = (client: SignalClient): readonly string[] =>
    client.messages.findLast((message) => message.type === 'speaking')?.user_ids ?? client.joined.speaking
  const sender = await publish(room, bob, '', { pictures: 0 })
  await ann.next((message) => message.type === 'stream_added' && message.stream.tells_level)
  bob.send({ type: 'state', audio: true, video: false })
  sender.level = 30
  await expect.poll(() => speaking(ann), { timeout: 5_000 }).toEqual(['bob'])
  const cem = await enter(room, 'cem')
  expect(cem.joined).toMatchObject({ speaking: ['bob'], spoke: ['bob'] })
  const { connections } = await site().rpc('media.stats', { room_id: room })
  expect(connections.filter((one) => one.speaking).map(({ user_id }) => user_id)).toEqual(['bob'])
  ann.send({ type: 'mute', user_id: 'bob', kind: 'audio' })
  await expect.poll(() => speaking(cem), { timeout: 5_000 }).toEqual([])
  bob.send({ type: 'state', audio: true, video: false })
  await expect.poll(() => speaking(cem), { timeout: 5_000 }).toEqual(['bob'])
  sender.level = 100
  await expect.poll(() => speaking(ann), { timeout: 5_000 }).toEqual([])
  await sender.close()
})

test('the controller receives raised hands; the host lowers one, and reactions reach everybody', async () => {
  const room = await newRoom('Hands')
  const [ann, bob] = [await enter(room, 'ann', 'host'), await enter(room, 'bob')]
  const hands = async () =>
    (await site().rpc('rooms.get', { room_id: room })).users.map(({ user_id, hand }) => [user_id, hand])
  const none = [
    ['ann', 0],
    ['bob', 0],
  ]
  await expect.poll(hands).toEqual(none)
  bob.send({ type: 'hand', raised: true })
  await expect.poll(hands).toEqual([
    ['ann', 0],
    ['bob', 1],
  ])
  ann.send({ type: 'lower_hand', user_id: 'bob' })
  expect(await bob.next('hand_lowered')).toMatchObject({ by: 'ann' })
  await expect.poll(hands).toEqual(none)
  bob.send({ type: 'react', reaction: 'clap' })
  expect(await ann.next('reactions')).toMatchObject({ list: [{ user_id: 'bob', reaction: 'clap' }] })
})

test('a locked room readmits its previous users, with their screen, and nobody else', async () => {
  const room = await newRoom('Locked')
  const [ann, bob] = [await enter(room, 'ann', 'host'), await enter(room, 'bob')]
  const inJanus = async (): Promise<string[]> =>
    (await site().rpc('rooms.get', { room_id: room })).users.map(({ user_id }) => user_id)
  await expect.poll(inJanus).toEqual(['ann', 'bob'])
  ann.send({ type: 'lock', locked: true })
  await bob.next((message) => message.type === 'room_changed' && message.locked)
  const screen = await publish(room, bob, '?source=screen')
  await ann.next((message) => message.type === 'stream_added' && message.stream.source === 'screen')
  await screen.close()
  bob.send({ type: 'leave' })
  await bob.closed
  await expect.poll(inJanus).toEqual(['ann'])
  await expect(enter(room, 'cem')).rejects.toThrow('403 locked')
  const again = await enter(room, 'bob', 'member', { pass: bob.joined.pass })
  await expect.poll(inJanus).toEqual(['ann', 'bob'])
  ann.forget()
  const sender = await publish(room, again)
  expect(await ann.next('stream_added')).toMatchObject({ stream: { stream_id: 'bob' } })
  const viewer = await watch(room, ann, 'bob')
  await flows(viewer.video)
  await viewer.close()
  // Janus does not answer offers: it answers a player's offer with a counter-offer.
  const player = await WhepPeer.openCountered(`${site().nodeUrl}/whep/${room}/bob`, ann.joined.session)
  await flows(player.video)
  expect(await player.close()).toBe(true)
  await sender.close()
  // Janus's own API admits only holders of earlier tokens.
  await expect(site().rpc('media.participant_token', { room_id: room, user_id: 'dan' })).rejects.toThrow('locked')
})

test('hosts, users who joined by number, and new names are known for Janus as for this machine', async () => {
  const room = await newRoom('Names')
  await site().rpc('rooms.update', { room_id: room, entry_by_number: 'on', host_password: 'open sesame' })
  const browser = 'a secret of this browser'
  const users = async () => (await site().rpc('rooms.get', { room_id: room })).users
  const ann = await SignalClient.join(site().nodeUrl, room, { user_name: 'Ann', browser })
  const { user_id } = ann.joined.you
  await expect.poll(users).toMatchObject([{ user_id, user_name: 'Ann', role: 'member', by_number: true }])
  const renamed = await SignalClient.join(site().nodeUrl, room, { user_name: 'Anna', browser })
  await expect.poll(users).toMatchObject([{ user_id, user_name: 'Anna', role: 'member' }])
  await SignalClient.join(site().nodeUrl, room, { user_name: 'Anna', browser, host_password: 'open sesame' })
  await expect.poll(users).toMatchObject([{ user_id, user_name: 'Anna', role: 'host' }])
  renamed.drop()
})

test('a client of the Janus API counts as a user: a host can mute it, and the end of the meeting removes it', async () => {
  const room = await newRoom('Mixed')
  const ann = await enter(room, 'ann', 'host')
  const given = await site().rpc('media.participant_token', { room_id: room, user_id: 'zoe', user_name: 'Zoe' })
  const zoe = await RoomPeer.join(janus(), given.room, given.id, { token: given.token, roomToken: given.room_token })
  const sender = await zoe.publish()
  await ann.next('stream_added')
  const viewer = await watch(room, ann, 'zoe')
  await flows(viewer.audio)
  ann.send({ type: 'mute', user_id: 'zoe', kind: 'audio' })
  await expect
    .poll(
      async () => {
        const before = viewer.audio.received
        await flows(viewer.video)
        return viewer.audio.received - before
      },
      { timeout: 5_000 },
    )
    .toBe(0)
  const silenced = (message: ToPerson): boolean =>
    message.type === 'person_changed' && message.person.user_id === 'zoe' && !message.person.audio
  await ann.next(silenced)
  ann.send({ type: 'end_meeting' })
  await ann.closed
  await expect.poll(async () => (await site().rpc('rooms.get', { room_id: room })).users).toEqual([])
  // They can join again.
  await zoe.leave()
  const again = await RoomPeer.join(janus(), given.room, given.id, { token: given.token, roomToken: given.room_token })
  await again.leave()
  await Promise.all([viewer.close(), sender.close().catch(() => {})])
})

/** A UDP socket that counts the packets that it receives. */
async function openReceiver(address: string): Promise<{ socket: dgram.Socket; received: number }> {
  const receiver = { socket: dgram.createSocket(isIPv6(address) ? 'udp6' : 'udp4'), received: 0 }
  receiver.socket.on('message', () => (receiver.received += 1)).bind(0, address)
  await once(receiver.socket, 'listening')
  return receiver
}

test("an operator's preview shows a person on Janus until the operator ends it", async () => {
  const room = await newRoom('Preview')
  const sender = await publish(room, await enter(room, 'bob'))
  await expect.poll(async () => (await site().rpc('media.stats', { room_id: room })).streams.length).toBe(1)
  const watched = await site().rpc('media.watch', { room_id: room, stream_id: 'bob', offer: offerSdp() })
  expect(watched.offered).toBe(true)
  const preview = { room_id: room, session: watched.session }
  const viewer = await WhepPeer.answering(watched.answer, (answer) =>
    site().rpc('media.answer', { ...preview, answer }),
  )
  await flows(viewer.video)
  expect(await site().rpc('media.show', { ...preview, height: 180 })).toEqual({ there: true })
  expect((await site().rpc('rooms.get', { room_id: room })).users.map(({ user_id }) => user_id)).toEqual(['bob'])
  await site().rpc('media.unwatch', preview)
  expect(await site().rpc('media.show', { ...preview, height: 180 })).toEqual({ there: false })
  await expect(site().rpc('media.answer', { ...preview, answer: watched.answer })).rejects.toThrow(
    'The preview is over',
  )
  viewer.drop()
  await sender.close()
})

test('a preview of an unknown stream or room is refused with the reason', async () => {
  const room = await newRoom('Empty')
  for (const room_id of [room, '4711']) {
    const wish = { room_id, stream_id: 'nobody', offer: offerSdp() }
    expect(await site().controller.dispatch('media.watch', wish, operator)).toMatchObject({
      ok: false,
      error: { code: 'notFound' },
    })
  }
})

test("Janus calls no more addresses for a preview than the first 24 of the browser's answer", async () => {
  const room = await newRoom('Addresses')
  const sender = await publish(room, await enter(room, 'bob'))
  await expect.poll(async () => (await site().rpc('media.stats', { room_id: room })).streams.length).toBe(1)
  const watched = await site().rpc('media.watch', { room_id: room, stream_id: 'bob', offer: offerSdp() })
  const receivers: Awaited<ReturnType<typeof openReceiver>>[] = []
  const viewer = await WhepPeer.answering(watched.answer, async (sdp) => {
    const address = /^a=candidate:\S+ 1 UDP \d+ ([\d.]+) /m.exec(sdp)?.[1] ?? ''
    while (receivers.length < 26) receivers.push(await openReceiver(address))
    const candidates = receivers.map(({ socket }, index) => {
      return `a=candidate:${String(index)} 1 UDP 2122317823 ${address} ${String(socket.address().port)} typ host\r\n`
    })
    const answer = `${sdp.replace(/^a=candidate:.*\r\n/gm, '')}${candidates.join('')}`
    await site().rpc('media.answer', { room_id: room, session: watched.session, answer })
    await expect.poll(() => receivers.filter(({ received }) => received > 0).length, { timeout: 5_000 }).toBe(24)
  })
  // Without any address of its own in the answer, the browser is found by its first check.
  await flows(viewer.video)
  expect(receivers.slice(24).map(({ received }) => received)).toEqual([0, 0])
  await site().rpc('media.unwatch', { room_id: room, session: watched.session })
  viewer.drop()
  for (const { socket } of receivers) socket.close()
  await sender.close()
})

test('no Janus token is issued under the id of a camera of the room, even while the camera is away', async () => {
  const [room, other] = [await newRoom('Door'), await newRoom('Another')]
  // No camera answers there.
  const address = { userName: 'Door', userAddress: 'rtsp://127.0.0.1:9/none' }
  await site().rpc('devices.create', { roomId: room, userId: 'door', ...address })
  const tokenIn = (room_id: string) => site().rpc('media.participant_token', { room_id, user_id: 'door' })
  await expect(tokenIn(room)).rejects.toThrow('An outgoing user of the room has this user_id')
  expect(await tokenIn(other)).toMatchObject({ id: 'door' })
  await site().rpc('devices.remove', { userIds: ['door'] })
  expect(await tokenIn(room)).toMatchObject({ id: 'door' })
})
