import { hostname } from 'node:os'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ControllerWatch, LeaderHistory } from '../../../server/console/site-controllers.ts'
import { EventHub } from '../../../server/console/event-hub.ts'
import type { EventDraft } from '../../../server/event-log/event-log.ts'
import { PlainRule } from '../../../server/cluster/leader-connection.ts'
import { controllersView } from '../../../shared/console/controllers.ts'
import { siteWithoutMedia, startHeadless } from '../../support/headless.ts'
import { KnownSite, known } from './known-controllers.ts'

/** Opens a console that shows a site, and an event log. */
function watched(site: KnownSite) {
  const hub = new EventHub()
  const told: unknown[] = []
  const written: EventDraft[] = []
  hub.listen((event) => told.push(event))
  const watch = new ControllerWatch({
    site,
    hub,
    sink: { append: (draft) => written.push(draft) },
    everyMs: 5,
    answerMs: 50,
  })
  onTestFinished(() => watch.stop())
  return { watch, told, written, kinds: () => written.map(({ kind }) => kind) }
}

test('a controller lists the leader, the replicas and their lag, itself first', async () => {
  const site = new KnownSite('beta')
  site.items = [
    known('alpha', { role: 'leader', seenAt: 999_000 }),
    known('beta', { behind: 12, behindFor: 40 }),
    known('gamma', { seenAt: 940_000, version: '1.2.2' }),
  ]
  const view = await watched(site).watch.list()
  expect(controllersView.parse(view)).toEqual(view)
  expect(view.items.map(({ name, role, self, gone, behind }) => [name, role, self, gone, behind])).toEqual([
    ['beta', 'standby', true, false, 12],
    ['alpha', 'leader', false, false, 0],
    ['gamma', 'standby', false, true, 0],
  ])
  // Independent of clock differences between machines: a minute before the last announcement.
  const [newest = 0, , gone = 0] = view.items.map(({ seen_at }) => seen_at)
  expect(newest - gone).toBe(60_000)
  expect(view.medium).toEqual({ kind: 'database', shown: site.away.shown, away_since: 0, error: '', risks: [] })
})

test('while the database is away, the console shows the last known state with its time and the reason', async () => {
  const site = new KnownSite()
  const { watch, told } = watched(site)
  const before = await watch.list()
  site.away = { ...site.away, awaySince: Date.now(), error: 'the database cannot be reached: connection refused' }
  const view = await watch.list()
  expect([view.items, view.known_at]).toEqual([before.items, before.known_at])
  expect(view.medium).toMatchObject({ away_since: site.away.awaySince, error: site.away.error })
  expect(told).toHaveLength(2)
})

test('a database that hangs blocks nobody', async () => {
  const site = new KnownSite()
  const { watch } = watched(site)
  await watch.list()
  site.controllers = () => new Promise(() => undefined)
  expect((await watch.list()).items).toHaveLength(3)
})

test('consoles are notified of changes only', async () => {
  const site = new KnownSite()
  const { watch, told } = watched(site)
  watch.start()
  await vi.waitFor(() => expect(told).toHaveLength(1))
  site.items = site.items.map((item) => ({ ...item, seenAt: item.seenAt + 1_000 }))
  await watch.list()
  expect(told).toHaveLength(1)
  site.items = [...site.items.slice(0, 2), known('gamma', { seenAt: 1_001_000, behind: 3, behindFor: 9 })]
  await vi.waitFor(() => expect(told).toHaveLength(2))
  site.lead(undefined)
  await vi.waitFor(() => expect(told.at(-1)).toMatchObject({ payload: { items: [{ role: 'standby' }, {}, {}] } }))
  expect((await watch.list()).leaderless_since).toBeGreaterThan(Date.now() - 60_000)
})

test('an admin makes a connected replica the leader', async () => {
  const site = new KnownSite()
  site.items[2] = known('gamma', { seenAt: 1 })
  const { watch } = watched(site)
  expect(await watch.lead('id-beta')).toEqual({ name: 'beta' })
  expect(site.handedOver).toEqual(['id-beta'])
  await expect(watch.lead('id-beta')).rejects.toThrow('beta leads already.')
  await expect(watch.lead('id-gamma')).rejects.toThrow('gamma has not reported lately')
  await expect(watch.lead('nobody')).rejects.toMatchObject({ code: 'notFound' })
})

test('the event log records controllers that join and leave, a database outage, and the leader after it', async () => {
  const site = new KnownSite()
  const { watch, written, kinds } = watched(site)
  watch.start()
  await watch.list()
  expect(kinds()).toEqual([])
  site.items = [
    ...site.items.slice(0, 2).map((item) => ({ ...item, seenAt: 1_010_000 })),
    known('gamma'),
    known('delta'),
  ]
  site.items[3] = known('delta', { seenAt: 1_010_000, version: '2.0.0' })
  await vi.waitFor(() => expect(kinds()).toEqual(['controller.gone', 'controller.appeared']))
  expect(written).toMatchObject([
    { level: 'warning', subject: { type: 'controller', id: 'id-gamma', name: 'gamma' } },
    { subject: { name: 'delta' }, params: { version: '2.0.0' } },
  ])
  const awaySince = Date.now() - 2_000
  site.away = { ...site.away, awaySince, error: 'connection refused' }
  await vi.waitFor(() => expect(kinds().at(-1)).toBe('database.away'))
  expect(written.at(-1)).toMatchObject({ at: awaySince, level: 'error', params: { error: 'connection refused' } })
  site.away = { ...site.away, awaySince: 0, error: '' }
  await vi.waitFor(() => expect(kinds().at(-1)).toBe('database.back'))
  expect(Number(written.at(-1)?.params?.away_ms)).toBeGreaterThanOrEqual(2_000)
  site.lead('id-beta', { id: 'id-beta', name: 'beta', from: 'alpha', why: 'byHand' })
  await vi.waitFor(() => expect(kinds().at(-1)).toBe('leader.changed'))
  expect(written.at(-1)).toMatchObject({
    ...{ kind: 'leader.changed', level: 'info', subject: { name: 'beta' } },
    params: { from: 'alpha', why: 'byHand' },
  })
})

test('a controller remembers the previous leader in either role, and reports each change once', () => {
  const self = { id: 'id-beta', named: false }
  const history = new LeaderHistory()
  history.note(known('alpha'), self)
  expect(history.take()).toBeUndefined()
  history.note(undefined, self)
  history.note(known('beta'), self)
  expect(history.take()).toEqual({ id: 'id-beta', name: 'beta', from: 'alpha', why: 'lost' })
  expect(history.take()).toBeUndefined()
  history.handsOverTo('id-gamma')
  history.note(known('gamma'), self)
  expect(history.take()).toMatchObject({ name: 'gamma', from: 'beta', why: 'byHand' })
  history.note(known('alpha'), self)
  expect(history.take()).toMatchObject({ name: 'alpha', from: 'gamma', why: '' })
  history.note(known('beta'), { ...self, named: true })
  expect(history.take()).toMatchObject({ name: 'beta', from: 'alpha', why: 'byHand' })
})

test('metrics show whether this controller leads, its lag, and whether the database is available', async () => {
  const site = new KnownSite('beta')
  site.items[1] = known('beta', { behind: 7 })
  const { watch } = watched(site)
  await watch.list()
  const { leads, behind, databaseUp } = watch.metrics()
  expect([leads(), behind(), databaseUp()]).toEqual([false, 7, true])
  site.lead('id-beta')
  site.away = { ...site.away, awaySince: 1 }
  expect([leads(), databaseUp()]).toEqual([true, false])
})

test('a site stored in files has one controller, which leads and cannot hand over', async () => {
  const server = await startHeadless({ site: siteWithoutMedia })
  onTestFinished(async () => {
    await server.remove()
  })
  const view = await server.rpc('controllers.list', {})
  expect(view).toMatchObject({
    items: [{ name: hostname(), role: 'leader', self: true, behind: 0, gone: false }],
    leaderless_since: 0,
    medium: { kind: 'disk', shown: server.folder, away_since: 0 },
  })
  expect(view.items[0]?.place.media).toBe(server.ready.media)
  const metrics = await (await fetch(`${server.ready.console}/metrics`)).text()
  expect(metrics).toMatch(/^roomdesk_leader 1$/m)
  expect(metrics).not.toContain('roomdesk_database_up')
  await expect(server.rpc('controllers.lead', { id: 'another' })).rejects.toThrow('There is no such controller')
  await expect(server.rpc('controllers.lead', { id: view.items[0]?.id ?? '' })).rejects.toThrow('leads already')
})

test('a controller on another machine that announces no certificate is marked as one that receives no requests', async () => {
  const site = new KnownSite()
  const old = known('beta')
  site.items = [known('alpha', { role: 'leader' }), { ...old, place: { ...old.place, certificate: '' } }]
  const rule = new PlainRule(false, { warn: () => undefined })
  const { watch } = watched(Object.assign(site, { refusesPlain: rule.refuses.bind(rule) }))
  const { items } = await watch.list()
  expect(items.map(({ name, refused_plain }) => [name, refused_plain])).toEqual([
    ['alpha', false],
    ['beta', true],
  ])
})
