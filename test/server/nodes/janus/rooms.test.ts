import { describe, expect, test as base } from 'vitest'
import { Participant } from '../../../support/janus/participant.ts'
import { JanusSite } from '../../../support/sites/janus-site.ts'
import { disposed } from '../../../support/fixtures.ts'

const test = base.extend('site', { scope: 'file' }, async ({}, { onCleanup }) =>
  disposed(onCleanup, await JanusSite.start()),
)

describe('A Janus server without credentials and events', () => {
  test('opens a room with its limits, and follows their changes', async ({ site }) => {
    await site.room('100000001', { max_video: 4, max_audio: 7 })
    expect(await site.onNode('100000001')).toMatchObject({ max_publishers: 7, lock_record: true, is_private: false })
    await site.changeRoom('100000001', { max_audio: 2 })
    await expect.poll(() => site.onNode('100000001')).toMatchObject({ max_publishers: 4 })
  })

  test('refuses peer-to-peer rooms', async ({ site }) => {
    await expect(site.room('100000009', { room_mode: 3 })).rejects.toMatchObject({ code: expect.any(String) })
    expect(await site.onNode('100000009')).toBeUndefined()
  })

  test('shows the users of a room, in the order they joined; closing the room notifies them', async ({ site }) => {
    await site.room('100000002')
    await using ann = await Participant.connect(site.janus.wsUrl)
    await ann.join('100000002', 'ann')
    await expect.poll(() => site.users('100000002')).toEqual(['ann'])
    await using bob = await Participant.connect(site.janus.wsUrl)
    await bob.join('100000002', 'bob')
    await expect.poll(() => site.users('100000002')).toEqual(['ann', 'bob'])
    expect(site.pool.presence.usersOf('100000002')[0]).toMatchObject({ userName: 'ANN', device: false, role: 'member' })
    await ann.leave()
    await expect.poll(() => site.users('100000002')).toEqual(['bob'])
    await site.changeRoom('100000002', { closed: true })
    await expect.poll(() => bob.heard).toContainEqual({ videoroom: 'destroyed', room: '100000002' })
    await expect.poll(() => site.users('100000002')).toEqual([])
    await expect.poll(() => site.onNode('100000002')).toBeUndefined()
  })

  test('removes a user, who stays refused for as long as the site says', async ({ site }) => {
    await site.room('100000003')
    await using ann = await Participant.connect(site.janus.wsUrl)
    await ann.join('100000003', 'ann')
    await expect.poll(() => site.users('100000003')).toEqual(['ann'])
    expect(await site.pool.calls.kick('100000003', 'ann')).toBe(true)
    expect(site.users('100000003')).toEqual([])
    await ann.attachAgain()
    await ann.join('100000003', 'ann')
    await expect.poll(() => ann.heard.filter(({ reason }) => reason === 'kicked').length).toBeGreaterThan(1)
    await expect.poll(() => site.users('100000003')).toEqual([])
    expect(await site.pool.calls.kick('100000003', 'nobody')).toBe(false)
    // Anybody can use this name: no removal is stored for its real owner.
    expect(site.store.get('rooms', '100000003')?.removals).toBeUndefined()
  })

  test('admits only as many users as the room takes, and nobody new into a locked one', async ({ site }) => {
    await site.room('100000004', { attendee_max: 1 })
    await using ann = await Participant.connect(site.janus.wsUrl)
    await ann.join('100000004', 'ann')
    await expect.poll(() => site.users('100000004')).toEqual(['ann'])
    await using bob = await Participant.connect(site.janus.wsUrl)
    await bob.join('100000004', 'bob')
    await expect.poll(() => bob.heard).toContainEqual(expect.objectContaining({ reason: 'kicked' }))
    await expect.poll(() => site.users('100000004')).toEqual(['ann'])
    await site.room('100000004', { attendee_max: 5, locked: true })
    await using eve = await Participant.connect(site.janus.wsUrl)
    await expect.poll(() => eve.tryToJoin('100000004', 'eve')).toBe(433)
    await site.room('100000004', { locked: false })
    await expect.poll(() => eve.tryToJoin('100000004', 'eve')).toBe('in')
    await eve.join('100000004', 'eve')
    await expect.poll(() => site.users('100000004')).toEqual(['ann', 'eve'])
  })

  test('keeps foreign rooms, even one with the number of ours', async ({ site }) => {
    await site.janus.ask('videoroom', { request: 'create', room: '100000005', description: 'theirs', secret: 'theirs' })
    await site.changeRoom('100000005', {})
    await expect(site.pool.callerNodes.nodeFor('100000005')).rejects.toMatchObject({ code: 'noNode' })
    expect(site.logged.join('\n')).toContain('did not make')
    expect(await site.onNode('100000005')).toMatchObject({ description: 'theirs' })
  })

  test('gets its rooms again when it restarts without them, and loses those that no longer exist', async ({ site }) => {
    await site.room('100000006', { max_video: 3, max_audio: 3 })
    await site.room('100000007')
    await using ann = await Participant.connect(site.janus.wsUrl)
    await ann.join('100000006', 'ann')
    await expect.poll(() => site.users('100000006')).toEqual(['ann'])
    await site.janus.restart()
    await expect.poll(() => site.onNode('100000006').catch(() => undefined)).toMatchObject({ max_publishers: 3 })
    await expect.poll(() => site.users('100000006')).toEqual([])
    await site.store.transact(['rooms/100000006'], (change) => change.delete('rooms', '100000006'))
    await expect.poll(() => site.onNode('100000006')).toBeUndefined()
    const [view] = site.pool.nodes.views()
    expect(view?.drift).toMatchObject({ counts: { roomUnknown: 0 }, last: { kind: 'roomMissing' } })
    expect(view?.drift.last?.count).toBeGreaterThan(1)
  })

  test('reports its version and plugins, and that it is polled', ({ site }) => {
    const [view] = site.pool.nodes.views()
    expect(view?.program).toMatchObject({ version: expect.stringMatching(/^1\.\d/), events: false })
    expect(view?.program?.plugins).toEqual(expect.arrayContaining(['streaming', 'videoroom']))
  })
})
