import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { SiteControllers } from '../../../server/console/site-controllers.ts'
import { startTestCamera } from '../../support/camera/test-camera.ts'
import { signalVersion } from '../../../shared/media/signal.ts'
import { type RefusedError, SignalClient } from '../../support/media/signal-client.ts'
import { isAlive, MediaSite } from '../../support/sites/media-site.ts'
import { step } from '../../support/step.ts'

const embedded = (name: string, port: number) => ({ name, kind: 'embedded' as const, port })
const host = '127.0.0.1'

/** Another program on a port. */
async function occupy(port: number): Promise<Server> {
  const server = createServer().listen(port, host)
  await once(server, 'listening')
  return server
}

/** Makes another controller of the site, as stored in the database. */
const standby = (name: string, node: string) => ({
  ...{
    id: name,
    name,
    version: 'test',
    role: 'standby' as const,
    behind: 0,
    behindFor: 0,
    seenAt: Date.now(),
    since: 0,
  },
  place: { media: '', device: '', node, console: '', event: '', certificate: '' },
})

test('a site with several embedded nodes on one machine', { timeout: 300_000 }, async () => {
  /** Other controllers of the site. */
  const others: ReturnType<typeof standby>[] = []
  let lookAgain = (): void => {}
  const controllers: SiteControllers = {
    id: 'this one',
    medium: 'database',
    controllers: async () => [...others],
    leader: () => undefined,
    onLeader: (listener) => {
      lookAgain = () => listener(undefined)
      return () => {}
    },
    database: () => ({ shown: '', awaySince: 0, error: '', risks: [] }),
    answerLeader: () => ({ shown: '', awaySince: 0, error: '', risks: [] }),
    lease: () => undefined,
    handOver: async () => {},
  }
  let left: string
  let right: string
  await using camera = await startTestCamera()
  let site = await MediaSite.start({ cores: 3, controllers })
  onTestFinished(() => site[Symbol.asyncDispose]())
  const password = { host_password: 'open sesame' }
  const urlOf = async (room: string) => `http://${String((await site.api.get('/sdk/get_mcu', { room_id: room })).addr)}`
  const states = async () =>
    Object.fromEntries((await site.rpc('nodes.list', {})).map(({ config, state }) => [config.name, state]))
  const allOnline = () => site.until(async () => Object.values(await states()).every((state) => state === 'online'))

  await step(
    'the console proposes one for each core except one, and adds the missing ones with the next free ports',
    async () => {
      const nodePort = Number(new URL(site.nodeUrl).port)
      const proposal = await site.rpc('nodes.proposal', {})
      expect(proposal).toMatchObject({ cores: 3, most: 2, embedded: 1 })
      expect(proposal.missing).toMatchObject([{ name: 'here 2', kind: 'embedded', enabled: true }])
      const port = proposal.missing[0]?.port ?? 0
      expect(port).toBeGreaterThan(nodePort)
      expect(proposal.next).toEqual(proposal.missing[0])
      const added = await site.rpc('nodes.add_embedded', { count: 1 })
      expect(added).toMatchObject([{ config: { name: 'here 2', port } }])
      await allOnline()
      const after = await site.rpc('nodes.proposal', {})
      expect(after).toMatchObject({ most: 2, embedded: 2, missing: [], next: { name: 'here 3' } })
      expect(after.next?.port).toBeGreaterThan(port)
      // Each has its own process and port.
      expect(site.pids.filter(isAlive)).toHaveLength(2)
      expect((await fetch(`http://${host}:${port}/room/`)).status).toBe(200)
    },
  )

  await step(
    'a port of the settings or of a node of another kind is not proposed, even if nothing listens there',
    async () => {
      const next = async (): Promise<number> => (await site.rpc('nodes.proposal', {})).next?.port ?? 0
      const first = await next()
      await site.rpc('settings.set', { listeners: { console_port: first } })
      const second = await next()
      expect(second).toBeGreaterThan(first)
      const addresses = [{ tag: '', addr: `127.0.0.1:${second}` }]
      await site.rpc('nodes.add', { name: 'lab', kind: 'simulated', enabled: false, addresses })
      expect(await next()).toBeGreaterThan(second)
      await site.rpc('nodes.remove', { name: 'lab' })
    },
  )

  await step('rooms are distributed over them by load, and a join link works wherever its room is', async () => {
    left = await site.api.createRoom(password)
    right = await site.api.createRoom(password)
    const urls = [await urlOf(left), await urlOf(right)]
    if (urls[0] !== site.nodeUrl) [left, right] = [right, left]
    expect(new Set(urls).size).toBe(2)
    for (const room of [left, right]) {
      const { url } = await site.rpc('media.join_link', { room_id: room, user_id: 'anna' })
      const token = new URL(url).hash.replace('#token=', '')
      const anna = await SignalClient.join(await urlOf(room), room, { token })
      expect(anna.joined.you.user_id).toBe('anna')
      anna.send({ type: 'leave' })
      await anna.closed
    }
  })

  await step(
    'a user at the wrong node is redirected to the room’s node, with a link or the password; a stranger learns nothing',
    async () => {
      const otherUrl = await urlOf(right)
      const { url } = await site.rpc('media.join_link', { room_id: right })
      const token = new URL(url).hash.replace('#token=', '')
      for (const proof of [{ token }, password]) {
        const client = new SignalClient(site.nodeUrl)
        const refused = await client
          .enter({
            type: 'join',
            version: signalVersion,
            room_id: right,
            token: '',
            host_password: '',
            user_name: 'Bo',
            ...proof,
          })
          .catch((error: unknown) => error as RefusedError)
        expect(refused).toMatchObject({ reason: 'elsewhere' })
        expect(client.messages).toMatchObject([{ type: 'refused', url: otherUrl }])
        const arrived = await SignalClient.join(otherUrl, right, { user_name: 'Bo', ...proof })
        arrived.send({ type: 'leave' })
        await arrived.closed
      }
      await expect(SignalClient.join(site.nodeUrl, right)).rejects.toMatchObject({ reason: 'unauthorised' })
      const wrong = SignalClient.join(site.nodeUrl, right, { host_password: 'guessed' })
      await expect(wrong).rejects.toMatchObject({ reason: 'hostPasswordWrong' })
    },
  )

  await step(
    'users in a room know the other nodes, and are notified at once where another controller would serve the room',
    async () => {
      const other = await urlOf(right)
      const ann = await SignalClient.join(await urlOf(left), left, { user_name: 'Ann', ...password })
      expect(ann.joined.other_nodes).toEqual([other])
      const otherUrl = 'http://10.0.0.6:7082'
      others.push(standby('b', otherUrl))
      lookAgain()
      expect(await ann.next('nodes')).toEqual({ type: 'nodes', other_nodes: [other, otherUrl] })
      const late = await SignalClient.join(other, right, { user_name: 'Bo', ...password })
      expect(late.joined.other_nodes).toEqual([await urlOf(left), otherUrl])
      for (const client of [ann, late]) {
        client.send({ type: 'leave' })
        await client.closed
      }
    },
  )

  await step('WHIP redirects people who join by number, too', async () => {
    const { room_id } = await site.rpc('rooms.create', { topic: 'Open house', entry_by_number: 'on' })
    const url = await urlOf(room_id)
    const other = (await site.rpc('nodes.list', {})).map(
      ({ config }) => `http://${host}:${config.port || new URL(site.nodeUrl).port}`,
    )
    const from = other.find((each) => each !== url) ?? ''
    const answer = await fetch(`${from}/whip/${room_id}?source=main`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/sdp' },
      body: 'v=0',
    })
    expect([answer.status, answer.headers.get('location')]).toEqual([307, `${url}/whip/${room_id}?source=main`])
    expect(await answer.json()).toMatchObject({ reason: 'elsewhere' })
  })

  await step('a removed user cannot return by the same link after the room moved to another node', async () => {
    const room = await site.api.createRoom()
    const first = await urlOf(room)
    const { url } = await site.rpc('media.join_link', { room_id: room, user_id: 'cy' })
    const token = new URL(url).hash.replace('#token=', '')
    const cy = await SignalClient.join(first, room, { token })
    await site.api.get('/rtc/force_offline_mcu', { room_id: room, user_id: 'cy' })
    await cy.closed
    const name = first === site.nodeUrl ? 'here' : 'here 2'
    await site.rpc('nodes.drain', { name })
    const second = await urlOf(room)
    expect(second).not.toBe(first)
    await expect(SignalClient.join(second, room, { token })).rejects.toMatchObject({ reason: 'removed' })
    await site.rpc('nodes.undrain', { name })
  })

  await step(
    'cameras, statistics and pictures of rooms come from their node; no camera is called at a node’s port',
    async () => {
      expect(await site.join(left, 'door', camera.url)).toMatchObject({ ret: 0 })
      expect(await site.join(right, 'yard', camera.url)).toMatchObject({ ret: 0 })
      const all = await site.rpc('media.stats', {})
      expect(all.streams.map(({ stream_id }) => stream_id).sort()).toEqual(['door', 'yard'])
      const one = await site.rpc('media.stats', { room_id: right })
      expect(one.streams.map(({ stream_id }) => stream_id)).toEqual(['yard'])
      const preview = await site.rpc('media.preview_device', { userId: 'yard' })
      expect(new URL(preview.url).origin).toBe(await urlOf(right))
      const own = `rtsp://${new URL(await urlOf(right)).host}/live`
      expect(await site.join(left, 'self', own)).toMatchObject({
        ret: 426,
        msg: expect.stringContaining('port of this site'),
      })
    },
  )

  await step('a killed node returns at its port by itself, and the rooms of the other are unaffected', async () => {
    const victim = site.pids.at(-1) ?? 0
    const url = await urlOf(right)
    const neighbour = await SignalClient.join(site.nodeUrl, left, password)
    const person = await SignalClient.join(url, right, password)
    const bytes = async () => (await site.rpc('media.stats', { room_id: left })).streams[0]?.video_bytes ?? 0
    const before = await bytes()
    process.kill(victim, 'SIGKILL')
    await person.closed
    await site.until(async () => (await states())['here 2'] === 'offline')
    await site.until(async () => (await bytes()) > before)
    neighbour.send({ type: 'ping', id: 7 })
    expect(await neighbour.next('pong')).toMatchObject({ id: 7 })
    await site.until(async () => (await site.device('yard')).state === 'joined')
    expect(neighbour.socket.readyState).toBe(neighbour.socket.OPEN)
    await allOnline()
    neighbour.drop()
    // The room may have moved to the other node meanwhile; users join wherever it is.
    const back = await SignalClient.join(await urlOf(right), right, password)
    back.drop()
  })

  await step(
    'a port in use is reported with its holder before anything is stored, and at the node if it is taken later',
    async () => {
      const port = (await site.rpc('nodes.proposal', {})).next?.port ?? 0
      const other = await occupy(port)
      // The system names the holder if it is fast enough.
      const inUse = `Port ${port} on ${host} is in use by `
      await expect(site.rpc('nodes.add', embedded('third', port))).rejects.toThrow(inUse)
      const moved = site.rpc('nodes.update', embedded('here 2', port))
      await expect(moved).rejects.toThrow(inUse)
      expect(Object.keys(await states())).toEqual(['here', 'here 2'])
      // It was free when the node was created, and is taken when the node is enabled.
      other.close()
      await site.rpc('nodes.add', { ...embedded('third', port), enabled: false })
      const later = await occupy(port)
      await site.rpc('nodes.enable', { name: 'third' })
      await site.until(async () => (await states()).third === 'offline')
      const third = (await site.rpc('nodes.list', {})).find(({ config }) => config.name === 'third')
      expect(third?.last_error).toContain(`The connection to the node failed: ${inUse}`)
      await site.rpc('nodes.remove', { name: 'third' })
      later.close()
    },
  )

  await step('two nodes cannot share a port; the first uses the node port of the settings, others do not', async () => {
    const port = (await site.rpc('nodes.list', {}))[1]?.config.port ?? 0
    const refusals = [
      [embedded('third', 0), 'The node port is that of here: another embedded node needs a port of its own.'],
      [embedded('third', port), `Port ${port} is that of the node here 2.`],
      [{ ...embedded('third', port + 1), kind: 'simulated' as const }, 'Only an embedded node has a port of its own.'],
    ] as const
    for (const [node, message] of refusals) {
      await expect(site.rpc('nodes.add', node)).rejects.toThrow(message)
      await expect(site.rpc('nodes.test', node)).rejects.toThrow(message)
    }
    const first = site.rpc('nodes.update', embedded('here', port + 1))
    await expect(first).rejects.toThrow('listens at the node port of the settings')
    // An update without the port keeps it.
    expect(await site.rpc('nodes.update', { ...embedded('here 2', 0), weight: 2 })).toMatchObject({
      config: { port, weight: 2 },
    })
  })

  await step(
    'a stop of the controller ends all of them, and a start brings all of them back at their ports',
    async () => {
      const before = (await site.rpc('nodes.list', {})).map(({ config }) => config)
      await site.stop()
      expect(site.pids.filter(isAlive)).toEqual([])
      const { folder } = site
      site = await MediaSite.start({ folder, nodes: [] })
      expect((await site.rpc('nodes.list', {})).map(({ config }) => config)).toEqual(before)
      await allOnline()
      await site.until(async () => (await site.device('yard')).state === 'joined')
    },
  )
})

test('a site file with two nodes on one port is refused with their path', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-several-'))
  const one = 31_000
  const wrong = MediaSite.start({ folder, nodes: [embedded('a', 0), embedded('b', 0), embedded('c', one)] })
  await expect(wrong).rejects.toThrow('$.nodes[1].port: The node port is that of a')
  await expect(MediaSite.start({ folder, nodes: [embedded('a', one), embedded('b', one)] })).rejects.toThrow(
    `$.nodes[1].port: Port ${one} is that of the node a.`,
  )
  await rm(folder, { recursive: true })
})
