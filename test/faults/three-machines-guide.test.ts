import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { type Headless, startHeadless } from '../support/headless.ts'
import { commonFolder, GuideMachine, GuidePage, run } from '../support/network/guide-machine.ts'
import { MachineNetwork } from '../support/network/machine-network.ts'

const credential = { label: 'Load', access_key: 'load', secret_key: 'load-secret' }
const site = { credentials: [credential], nodes: [{ name: 'lab', kind: 'simulated' }] }
const names = ['a', 'b', 'c'] as const
type Name = (typeof names)[number]
const addressOf: Record<Name, string> = { a: '10.0.0.11', b: '10.0.0.12', c: '10.0.0.13' }
if (!['etcd', 'patroni', 'haproxy', 'keepalived'].every((program) => spawnSync('which', [program]).status === 0))
  throw new Error(
    'These machines need root, and: apt-get install --no-install-recommends etcd-server etcd-client patroni python3-psycopg2 python3-idna haproxy keepalived iproute2 iptables',
  )

const slow = { timeout: 60_000, interval: 500 }

/** The lines of a machine's own name and address, as the guide says; all others stay as they are. */
function own(text: string, name: Name, lines: RegExp): string {
  return text
    .split('\n')
    .map((line) =>
      lines.test(line) ? line.replaceAll(addressOf.a, addressOf[name]).replace(/([:=] ?)a$/, `$1${name}`) : line,
    )
    .join('\n')
}

test('The guide for three machines as written: the site continues when a controller, the primary, an etcd or a whole machine is lost', async () => {
  const page = await GuidePage.read(join(import.meta.dirname, '../../docs/operate/high-availability.md'))
  await using network = await MachineNetwork.create({ subnet: '10.0.0', card: 'eth0' })
  const machines: Partial<Record<Name, GuideMachine>> = {}
  const on = (name: Name): GuideMachine => {
    const machine = machines[name]
    if (machine === undefined) throw new Error(`no machine ${name}`)
    return machine
  }
  const controllers: Partial<Record<Name, Headless>> = {}
  const common = await commonFolder()
  try {
    for (const name of names)
      machines[name] = await GuideMachine.start(name, await network.add(Number(addressOf[name].split('.')[3])))
    await certificates()
    await etcd()
    await database()
    await roomdesk()
    await oneAddress()
    await lossOf()
  } catch (error) {
    for (const name of names) console.error(machines[name]?.lastWords())
    throw error
  } finally {
    for (const controller of Object.values(controllers)) await controller.remove('SIGKILL')
    for (const machine of Object.values(machines)) await machine.remove()
    await rm(common, { recursive: true, force: true })
  }

  async function certificates(): Promise<void> {
    await run('sh', ['-ec', page.block('### Certificates')], { cwd: common })
    const install = page.block('On each machine, with its own')
    for (const name of names) {
      await on(name).sh('mkdir -p /etc/roomdesk')
      const script = install
        .replaceAll('a.crt', `${name}.crt`)
        .replaceAll('a.key', `${name}.key`)
        .replaceAll('cluster-cb.crt', 'cluster-ca.crt')
        .replaceAll('cluster-cc.crt', 'cluster-ca.crt')
      await on(name).sh(`cd ${common}\n${script}`)
    }
  }

  async function etcd(): Promise<void> {
    const file = page.block('### etcd:')
    for (const name of names) {
      const lines =
        /^ETCD_(?:NAME|LISTEN_PEER_URLS|INITIAL_ADVERTISE_PEER_URLS|LISTEN_CLIENT_URLS|ADVERTISE_CLIENT_URLS)=/
      await on(name).file('/etc/default/etcd', own(file, name, lines))
      on(name).service('etcd', ['etcd'], 'etcd', environment(own(file, name, lines)))
    }
    const users = page.block('Then give etcd a password as well')
    const [setUp, ...rest] = users.split(/(?=^etcdctl)/m)
    await expect
      .poll(async () => await on('a').sh(`${setUp}\netcdctl endpoint health`).catch(String), slow)
      .toContain('is healthy')
    await on('a').sh(`${setUp}\n${rest.join('')}`, { input: 'choose-a-root\nchoose-a-root\n' })
  }

  async function database(): Promise<void> {
    const file = page.block('### Patroni:')
    for (const name of names) {
      const config = own(file, name, /^name: |^ {2}(?:listen|connect_address): /)
      await on(name).sh('mkdir -p /run/postgresql && chown postgres /run/postgresql')
      await on(name).file('/etc/patroni/config.yml', config, { owner: 'postgres', mode: '600' })
      on(name).service('patroni', ['patroni', '/etc/patroni/config.yml'], 'postgres')
    }
    await expect
      .poll(members, slow)
      .toMatchObject([/leader/i, /sync standby/i, /replica/i].map((role) => expect.stringMatching(role) as unknown))
    const leader = await primary()
    const create = page
      .block('Once, at the server that Patroni names the leader')
      .replaceAll(addressOf.a, addressOf[leader])
    await on(leader).sh(create, { env: { PGPASSWORD: 'choose-one' } })
  }

  /** Returns role and name of the running members of Patroni, the leader first. */
  async function members(): Promise<string[]> {
    const said = await on('a')
      .sh('patronictl -c /etc/patroni/config.yml list -f json')
      .catch(() => '[]')
    const list = JSON.parse(said.slice(said.indexOf('['))) as { Role: string; Member: string; State: string }[]
    const there = list.filter(({ State }) => State === 'running' || State === 'streaming')
    return there.map(({ Role, Member }) => `${Role} ${Member}`).sort((one, other) => order(one) - order(other))
  }

  async function primary(): Promise<Name> {
    const [first = ''] = await members()
    const name = names.find((one) => first === `Leader ${one}`)
    if (name === undefined) throw new Error(`nobody leads: ${first}`)
    return name
  }

  async function roomdesk(): Promise<void> {
    for (const name of ['a', 'b'] as const) {
      await on(name).file('/etc/roomdesk/database.password', 'choose-a-fourth\n')
      await startController(name)
    }
    await expect.poll(async () => (await rpcOf('a')('controllers.list', {})).items.length, slow).toBe(2)
    expect((await rpcOf('a')('controllers.list', {})).medium.risks).toEqual([])
  }

  async function startController(name: 'a' | 'b'): Promise<void> {
    const folder = controllers[name]?.folder ?? (await mkdtemp(join(tmpdir(), `roomdesk-guide-${name}-`)))
    const first = controllers.a?.folder
    if (name === 'b' && controllers.b === undefined && first !== undefined)
      await run('install', ['-m', '600', join(first, 'seal.key'), join(folder, 'seal.key')])
    const file = own(page.block('### The controllers:'), name, /^ROOMDESK_HOST=/)
    const env = { ...environment(file), ROOMDESK_CONTROLLER_NAME: name }
    const fresh = controllers[name] === undefined && name === 'a' ? { site } : {}
    controllers[name] = await startHeadless({ folder, ports: 'settings', env, through: on(name).through, ...fresh })
  }

  function rpcOf(name: 'a' | 'b'): Headless['rpc'] {
    const controller = controllers[name]
    if (controller === undefined) throw new Error(`no controller on ${name}`)
    controller.ready = { ...controller.ready, console: `http://${addressOf[name]}:7083` }
    return (procedure, input) => controller.rpc(procedure, input)
  }

  async function oneAddress(): Promise<void> {
    const proxy = page.block('### One address: HAProxy')
    const address = page.block('### Its address: keepalived')
    for (const name of ['a', 'b'] as const) {
      const machine = on(name)
      await machine.sh('sysctl -qw net.ipv4.ip_nonlocal_bind=1')
      await machine.file('/etc/haproxy/haproxy.cfg', proxy)
      machine.service('haproxy', [
        'sh',
        '-c',
        'echo $$ > /run/haproxy.pid; exec haproxy -db -f /etc/haproxy/haproxy.cfg',
      ])
      // These machines have no service manager: this answers for it.
      await machine.file('/usr/bin/systemctl', '#!/bin/sh\nexec pgrep -F /run/haproxy.pid > /dev/null\n', {
        mode: '755',
      })
      await machine.file(
        '/etc/keepalived/keepalived.conf',
        name === 'a' ? address : address.replace('priority 100', 'priority 90'),
      )
      machine.service('keepalived', [
        'keepalived',
        '--dont-fork',
        '--log-console',
        '-f',
        '/etc/keepalived/keepalived.conf',
      ])
    }
    await expect
      .poll(
        async () =>
          (
            await client()
              .authenticate()
              .catch(() => ({ ret: -1 }))
          ).ret,
        slow,
      )
      .toBe(0)
  }

  function client(): ApiClient {
    return new ApiClient({ media: 'http://10.0.0.10:7080', device: 'http://10.0.0.10:7081' }, credential)
  }

  async function lossOf(): Promise<void> {
    const caller = new Caller(client())
    await caller.begin()
    const lose = async (what: string, loss: () => Promise<() => Promise<void>>): Promise<void> => {
      const from = caller.mark()
      const mend = await loss()
      await caller.goesOn()
      await sleep(5_000)
      console.info(`${what}: ${caller.since(from)}`)
      await mend()
      // The guide promises to survive one loss: a member that `pg_rewind` still rewinds would be a second one.
      await expect.poll(members, { ...slow, timeout: 120_000 }).toHaveLength(3)
      await expect
        .poll(
          async () =>
            (await rpcOf('b')('controllers.list', {}).catch(() => ({ items: [] }))).items.filter(({ gone }) => !gone)
              .length,
          slow,
        )
        .toBe(2)
      await sleep(3_000)
    }
    await lose('the controller on a is killed', async () => {
      await controllers.a?.stop('SIGKILL')
      return async () => await startController('a')
    })
    await lose('one etcd is killed', async () => {
      await on('c').kill('etcd')
      return async () =>
        on('c').service('etcd', ['etcd'], 'etcd', environment(await on('c').sh('cat /etc/default/etcd')))
    })
    await lose('the primary is killed, with its Patroni', async () => {
      const name = await primary()
      await on(name).kill('patroni')
      await on(name).killNamed('/var/lib/postgresql/15/roomdesk/postmaster.pid')
      return async () => on(name).service('patroni', ['patroni', '/etc/patroni/config.yml'], 'postgres')
    })
    await lose('the machine a is cut off', async () => {
      await on('a').machine.card('down')
      return async () => await on('a').machine.card('up')
    })
    const made = await caller.end()
    const reader = client()
    await reader.authenticate()
    for (const room_id of made) expect((await reader.get('/rtc/room/get', { room_id })).ret).toBe(0)
    expect(new Set(made).size).toBe(made.length)
    console.info(`${made.length} rooms, all there`)
    expect(
      await rpcOf('b')('events.verify', {}).catch(async () => await rpcOf('a')('events.verify', {})),
    ).toMatchObject({ ok: true })
  }
}, 900_000)

const order = (member: string): number => (member.startsWith('Leader') ? 0 : member.startsWith('Sync') ? 1 : 2)

/** Reads a file of variables, as systemd does. */
function environment(text: string): NodeJS.ProcessEnv {
  return Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const at = line.trim().indexOf('=')
      return at < 1 ? [] : [[line.trim().slice(0, at), line.trim().slice(at + 1)]]
    }),
  )
}

/** Creates rooms through the one address without a pause. */
class Caller {
  readonly #client: ApiClient
  readonly #made: string[] = []
  readonly #answers: { at: number; ok: boolean }[] = []
  #ends = false
  #work: Promise<void> = Promise.resolve()

  constructor(client: ApiClient) {
    this.#client = client
  }

  async begin(): Promise<void> {
    await this.#client.authenticate()
    this.#work = this.#run()
    await this.goesOn()
  }

  mark(): number {
    return this.#answers.length
  }

  /** Resolves after twenty more rooms. */
  async goesOn(): Promise<void> {
    const from = this.#made.length
    const deadline = performance.now() + 120_000
    while (this.#made.length < from + 20) {
      if (performance.now() > deadline) throw new Error('no room is made any more')
      await sleep(50)
    }
  }

  since(from: number): string {
    const made = this.#answers.slice(Math.max(0, from - 1)).filter(({ ok }) => ok)
    const pauses = made.slice(1).map(({ at }, index) => at - (made[index]?.at ?? at))
    const failed = this.#answers.slice(from).filter(({ ok }) => !ok).length
    return `longest pause ${Math.round(Math.max(0, ...pauses))} ms, ${failed} answers were no success`
  }

  async end(): Promise<string[]> {
    this.#ends = true
    await this.#work
    return this.#made
  }

  async #run(): Promise<void> {
    while (!this.#ends) {
      const answer = await this.#client
        .get('/rtc/room/create', { topic: 'one', owner_id: 'one', room_mode: 1 })
        .catch(() => ({ ret: -1, room_id: '' }))
      const ok = answer.ret === 0
      if (ok) this.#made.push(String(answer.room_id))
      this.#answers.push({ at: performance.now(), ok })
      if (!ok) await sleep(20)
    }
  }
}
