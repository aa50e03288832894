import { nextTick } from 'vue'
import { expect, test } from 'vitest'
import AppNav from '../../../renderer/console/components/AppNav.vue'
import ConfirmHost from '../../../renderer/console/components/ConfirmHost.vue'
import ReplicaBanner from '../../../renderer/console/components/ReplicaBanner.vue'
import { useCaller } from '../../../renderer/console/composables/site.ts'
import { showLanguage } from '../../../renderer/console/i18n/index.ts'
import ControllersPage from '../../../renderer/console/pages/ControllersPage.vue'
import { useEventText } from '../../../renderer/console/pages/events/useEventText.ts'
import { CallError } from '../../../renderer/kit/transport/transport.ts'
import type { ConsoleEvent, ProcedureInput } from '../../../shared/console/contract.ts'
import type { ControllersView, ControllerView, SiteMedium } from '../../../shared/console/controllers.ts'
import type { EventEntry } from '../../../shared/domain/events.ts'
import { answeringConsole } from '../answering-console.ts'
import { eventually } from '../eventually.ts'
import { operator, pageText, press, says, show } from '../devices/operator-page.ts'

const controller = (name: string, fields: Partial<ControllerView> = {}): ControllerView => ({
  ...{ id: `id-${name}`, name, self: false, role: 'standby', version: '1.2.3', behind: 0, behind_for: 0, gone: false },
  place: { media: '', device: '', node: '', console: `http://${name}.example:7083`, event: '' },
  refused_plain: false,
  unreachable: false,
  seen_at: Date.now(),
  since: Date.now() - 7_200_000,
  ...fields,
})
const alpha = controller('alpha', { self: true, role: 'leader' })
const beta = controller('beta')
const medium: SiteMedium = {
  kind: 'database',
  shown: 'postgres://db.example/site',
  away_since: 0,
  error: '',
  risks: [],
}

const view = (items: ControllerView[], more: Partial<ControllersView> = {}): ControllersView => ({
  ...{ items, known_at: Date.now(), leaderless_since: 0, leader_unreachable: [], lease: null, medium },
  ...more,
})

/** Makes the client of a site with several controllers, and a function that reports a change to it. */
function site(first: ControllersView, lead: (id: string) => Promise<unknown> = () => Promise.resolve({ name: '' })) {
  let now = first
  let send: (event: ConsoleEvent) => void = () => undefined
  const asked: string[] = []
  const answers: Record<string, unknown> = { 'account.me': { role: 'admin', name: 'ann' }, 'nodes.list': [] }
  const client = answeringConsole(
    (name, input) => {
      if (name === 'controllers.list') return now
      if (name !== 'controllers.lead') return answers[name]
      const { id } = input as ProcedureInput<'controllers.lead'>
      asked.push(id)
      return lead(id)
    },
    (listener) => (send = listener),
  )
  const become = (next: ControllersView): void => {
    now = next
    send({ name: 'controllers.changed', payload: next })
  }
  return { client, become, asked }
}

const banner = (): string => document.querySelector('.standby-banner')?.textContent?.replace(/\s+/g, ' ') ?? ''

test('a site in files says how to get a second controller, and its navigation has the page', async () => {
  const client = await operator()
  show(ControllersPage, client)
  await says('One controller serves this site')
  await says('Read how to run several controllers')
  show(AppNav, client)
  expect(document.querySelector('a[href="/controllers"]')?.textContent).toContain('Controllers')
})

test('the page updates leader, replicas and their lag, and highlights missing controllers and other versions', async () => {
  const { client, become } = site(view([alpha, beta]))
  show(ControllersPage, client)
  await says('alpha (this one)')
  await says('Leader for 2 h')
  await says('Up to date')
  const gone = controller('gamma', { gone: true, seen_at: Date.now() - 180_000, version: '1.2.2' })
  become(view([alpha, { ...beta, behind: 1200, behind_for: 45 }, gone]))
  await says('1,200 changes, 45 ms')
  await says('3 min ago')
  const row = [...document.querySelectorAll('[role=row]')].find(({ textContent }) => textContent?.includes('gamma'))
  expect(row?.className).toContain('gone')
  expect(row?.querySelector('.tone-warn[title]')?.getAttribute('title')).toContain('The leader runs 1.2.3')
  const link = document.querySelector('a[href="http://beta.example:7083"]')
  expect(link?.getAttribute('title')).toBe('Open the console of beta')
  // A missing controller cannot lead, and the leader already does.
  const menus = [...document.querySelectorAll('button[aria-label^="More actions"]')]
  expect(menus.map((menu) => menu.getAttribute('aria-label'))).toEqual(['More actions: beta'])
})

test('the page says which controller cannot be reached, and by which settings the database can lose changes', async () => {
  const risky: SiteMedium = { ...medium, risks: ['fsync', 'asynchronous'] }
  const lease = { epoch: 12, proved_for: 20, lapses: 0, waits: 0 }
  const { client, become } = site(view([alpha, { ...beta, unreachable: true }], { medium: risky, lease }))
  show(ControllersPage, client)
  await says('The leader has held its lease without interruption.')
  await says('This controller cannot reach beta')
  await says('The database runs with fsync=off')
  await says('no synchronous standby')
  become(view([alpha, beta], { lease: { ...lease, lapses: 2, waits: 1200 } }))
  await says('could not confirm its lease 2 times, so 1,200 requests waited')
})

/** Chooses "make leader" in the menu of a controller. */
async function makeLeader(name: string): Promise<void> {
  await says(name)
  document.querySelector<HTMLElement>(`button[aria-label="More actions: ${name}"]`)?.click()
  await eventually(() => {
    const items = [...document.querySelectorAll<HTMLElement>('[role=menuitem]')]
    const item = items.find((one) => one.textContent?.includes('Make leader') && one.checkVisibility())
    if (!item) throw new Error('the menu is not open')
    item.click()
  })
}

test('another controller becomes the leader, although the console loses its connection', async () => {
  const { client, become, asked } = site(view([alpha, beta]), () =>
    Promise.reject(new CallError('offline', 'The connection to the controller was lost.')),
  )
  show(ConfirmHost, client)
  show(ControllersPage, client, {})
  await makeLeader('beta')
  await says('alpha finishes the changes in progress and hands over to beta.')
  await says('move to the new leader within 5 s')
  expect(asked).toEqual([])
  await press('Make leader')
  await says('Handing over to beta…')
  expect(asked).toEqual(['id-beta'])
  become(
    view([
      { ...alpha, role: 'standby' },
      { ...beta, role: 'leader' },
    ]),
  )
  await says('beta is the leader now; the hand-over took')
  await press('Close')
  await eventually(() => expect(pageText()).not.toContain('beta is the leader now'))
})

test('a refused change of leader says why', async () => {
  const refusal = new CallError('failed', 'beta has not taken over.')
  const { client } = site(view([alpha, beta]), () => Promise.reject(refusal))
  show(ConfirmHost, client)
  show(ControllersPage, client)
  await makeLeader('beta')
  await press('Make leader')
  await says('The leader was not changed: beta has not taken over.')
})

test('the console of a replica is read-only and links to the leader', async () => {
  const onStandby = [
    { ...beta, self: true },
    { ...alpha, self: false },
  ]
  const { client, become } = site(view(onStandby))
  show(ReplicaBanner, client)
  let may: ReturnType<typeof useCaller>['may'] = () => false
  show({ setup: () => ((may = useCaller().may), () => null) }, client)
  await eventually(() => expect(banner()).toContain('Read-only replica. The leader is alpha.'))
  expect(document.querySelector('.standby-banner a')?.getAttribute('href')).toBe('http://alpha.example:7083')
  become(view(onStandby, { leader_unreachable: ['media', 'console'] }))
  await eventually(() => expect(banner()).toContain('This controller cannot reach alpha (Media API and Console)'))
  become(view(onStandby))
  await eventually(() => expect(banner()).not.toContain('cannot reach'))
  await eventually(() => expect(may('rooms.list')).toBe(true))
  expect([may('rooms.create'), may('controllers.lead')]).toEqual([false, true])
  const leaderless = onStandby.map((item) => ({ ...item, role: 'standby' as const }))
  become(view(leaderless, { leaderless_since: Date.now() }))
  await eventually(() => expect(banner()).toContain('No leader since'))
  become(view([{ ...beta, self: true, role: 'leader' }]))
  await eventually(() => expect(banner()).toBe(''))
  expect(may('rooms.create')).toBe(true)
})

test('while the database is away every page says since when, why, and what still works, in both languages', async () => {
  const away_since = new Date().setHours(0, 0, 0, 0)
  const away = { ...medium, away_since, error: 'the database cannot be reached: connection refused' }
  const { client, become } = site(view([alpha, beta], { medium: away }))
  show(ReplicaBanner, client)
  show(ControllersPage, client)
  const sentence = 'The database has been unreachable since 00:00 (connection refused): changes are refused; meetings'
  await eventually(() => expect(banner()).toContain(sentence))
  await says('Unreachable since 00:00')
  await showLanguage('zh')
  await nextTick()
  const chinese = banner()
  await showLanguage('en')
  expect(chinese).toContain('自 00:00 起无法连接数据库（connection refused）')
  become(view([alpha, beta]))
  await eventually(() => expect(banner()).toBe(''))
  await says('Reachable')
})

test('the event log shows leaders, controllers, the database and why nodes are offline, in both languages', async () => {
  const about = (kind: string, params: object, subject = { type: 'controller', id: 'b', name: 'beta' }) =>
    ({ kind, params, subject, room: '' }) as EventEntry
  const site_ = { type: 'site', id: '', name: '' }
  const entries = [
    about('leader.changed', { from: 'alpha', why: 'lost' }),
    about('leader.changed', { from: 'alpha', why: 'byHand' }),
    about('leader.changed', { from: 'alpha', why: '' }),
    about('controller.appeared', { version: '1.2.3' }),
    about('database.away', { error: 'the database cannot be reached: connection refused' }, site_),
    about(
      'store.noticed',
      { message: 'The database does not take the journal (it is full). Changes are refused until it does.' },
      site_,
    ),
    about('store.noticed', { message: 'The database takes changes again.' }, site_),
    about('store.noticed', { message: 'The disk takes changes again.' }, site_),
    about('database.back', { away_ms: 90_000 }, site_),
    about('node.offline', { error: 'The node did not answer within 2.5 s.' }, { type: 'node', id: 'n', name: 'n' }),
  ]
  const sentences = (): string[] => {
    let said: string[] = []
    const { client } = site(view([]))
    const Line = {
      setup() {
        const text = useEventText()
        said = entries.map((entry) => text.sentence(entry))
        return () => null
      },
    }
    show(Line, client)
    return said
  }
  expect(sentences()).toEqual([
    'Controller “beta” took over: “alpha” failed or stopped',
    'Controller “beta” is the leader: “alpha” handed over on request',
    'Controller “beta” is the leader; before: “alpha”',
    'Controller “beta” appeared (Roomdesk 1.2.3)',
    'The database is unreachable: connection refused',
    'The database refuses writes: it is full',
    'The database accepts writes again',
    'Disk: The disk takes changes again.',
    'The database is reachable again after 1 min',
    'Node “n” offline: The node did not answer within 2.5 s.',
  ])
  await showLanguage('zh')
  const chinese = sentences()
  await showLanguage('en')
  expect(chinese[0]).toBe('控制器“beta”已接管：“alpha”失联或已停止')
  expect(chinese[5]).toBe('数据库拒绝写入：it is full')
  expect(chinese.at(-1)).toBe('节点“n”离线：节点未在 2.5 秒内应答。')
})

test('a controller that receives nothing, because it would be in plain HTTP, is named with the remedy, in both languages', async () => {
  const plain = controller('beta', { refused_plain: true })
  const { client, become } = site(view([alpha, plain, controller('gamma', { refused_plain: true, gone: true })]))
  show(ControllersPage, client)
  await says('beta is on another machine and announces no certificate, so this controller sends it nothing')
  await says('update beta, or start this controller with --allow-plain-controllers on')
  expect(pageText()).not.toContain('gamma is on another machine')
  await showLanguage('zh')
  await says('请升级 beta，或以 --allow-plain-controllers on 启动本控制器')
  become(view([alpha, beta]))
  await eventually(() => expect(pageText()).not.toContain('--allow-plain-controllers'))
})
