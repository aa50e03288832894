import { Deadline } from '../../shared/deadline.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { janusSecretsAfter } from '../../server/nodes/secrets/janus-access.ts'
import { JanusSite } from '../support/sites/janus-site.ts'
import { camera as cameraAt } from '../support/sites/pool-site.ts'
import { startCamera } from '../support/camera/camera.ts'
import { Participant } from '../support/janus/participant.ts'

const slow = { timeout: 30_000 }

describe('A Janus node in trouble', () => {
  let site: JanusSite
  beforeAll(async () => {
    site = await JanusSite.start({
      tokenSecret: 'of tokens',
      adminKey: 'of rooms',
      events: true,
      cameras: true,
      settings: ({ deadlines }) => {
        deadlines.health_ms = 500
        deadlines.health_interval_ms = 500
      },
    })
  })
  afterAll(() => site[Symbol.asyncDispose]())

  const enter = async (roomId: string, userId: string): Promise<Participant & { room: string; roomToken: string }> => {
    const { room, token, roomToken } = await site.tickets(roomId, userId)
    const person = await Participant.connect(site.janus.wsUrl, token)
    await person.join(room, userId, roomToken)
    return Object.assign(person, { room, roomToken })
  }

  test('a removed user stops receiving, and cannot watch again', async () => {
    await using door = await startCamera({ fps: 10 })
    await site.room('300000001')
    await site.pool.calls.addDevice(
      '300000001',
      { ...cameraAt('door', door.url('/small')), login: undefined },
      Deadline.in(5_000),
    )
    await using ann = await enter('300000001', 'ann')
    await expect.poll(() => site.users('300000001')).toEqual(['door', 'ann'])
    const watch = {
      request: 'join',
      ptype: 'subscriber',
      room: ann.room,
      private_id: ann.privateId,
      token: ann.roomToken,
      streams: [{ feed: 'door' }],
    }
    const soon = (): AbortSignal => AbortSignal.timeout(10_000)
    const plugin = 'janus.plugin.videoroom'
    const watching = await ann.session.attach(plugin, soon())
    expect((await watching.request(watch, soon())).jsep).toMatchObject({ type: 'offer' })
    // Also in another session, like that of a reloaded page.
    await using other = await Participant.connect(site.janus.wsUrl, (await site.tickets('300000001', 'ann')).token)
    expect((await other.handle.request(watch, soon())).jsep).toMatchObject({ type: 'offer' })
    expect(await site.pool.calls.kick('300000001', 'ann')).toBe(true)
    await expect.poll(() => [watching.isDetached, other.handle.isDetached]).toEqual([true, true])
    await other.attachAgain()
    await expect(other.ask(watch)).rejects.toMatchObject({ code: 433 })
    expect(site.users('300000001')).toEqual(['door'])
  })

  test('a node that hangs goes offline by timeout, and continues without a loss', async () => {
    await site.room('300000002')
    await using ann = await enter('300000002', 'ann')
    await expect.poll(() => site.users('300000002')).toEqual(['ann'])
    await site.janus.signal('SIGSTOP')
    await expect
      .poll(() => site.state, slow)
      .toMatchObject({ state: 'offline', last_error: expect.stringContaining('0.5 s') })
    const before = performance.now()
    await expect(site.pool.calls.kick('300000002', 'ann')).rejects.toMatchObject({ code: 'nodeOffline' })
    expect(performance.now() - before).toBeLessThan(200)
    await site.janus.signal('SIGCONT')
    await expect.poll(() => site.state.state, slow).toBe('online')
    await expect.poll(() => site.users('300000002'), slow).toEqual(['ann'])
    await ann.leave()
    await expect.poll(() => site.users('300000002'), slow).toEqual([])
  })

  test('a node that is killed goes offline at once, and gets its rooms again when it returns', async () => {
    await site.room('300000003')
    await site.janus.stop('SIGKILL')
    await expect
      .poll(() => site.state, slow)
      .toMatchObject({
        state: 'offline',
        last_error: expect.stringContaining('ECONNREFUSED'),
      })
    await site.janus.start()
    await expect.poll(() => site.state.state, slow).toBe('online')
    await expect.poll(() => site.onNode('300000003').catch(() => undefined), slow).toBeDefined()
  })

  test('a node with a wrong secret is offline and says so, until it is corrected', async () => {
    const change = async (admin_secret: string): Promise<void> => {
      await site.store.transact(['nodes/j'], (transaction) => {
        const node = site.store.get('nodes', 'j')
        if (node === undefined) throw new Error('no node')
        const secrets_sealed = janusSecretsAfter({ ...node, admin_secret }, node, site.store)
        transaction.put('nodes', 'j', { ...node, secrets_sealed })
      })
    }
    await change('wrong')
    await expect
      .poll(() => site.state, slow)
      .toMatchObject({
        state: 'offline',
        last_error: expect.stringContaining('403'),
      })
    await change('admin secret')
    await expect.poll(() => site.state.state, slow).toBe('online')
  })
})
