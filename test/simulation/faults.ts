import type { LinkState } from './network.ts'
import type { PostgresServer } from './postgres/server.ts'
import type { SimulatedController, SimulatedSite } from './site/controller.ts'

/** One fault: it begins, lasts, and ends. */
export interface Fault {
  name: string
  /** Acknowledged changes may be lost by it: the database itself loses them. */
  loses?: true
  /** @returns what ends it; undefined: it cannot happen now */
  begin: (site: SimulatedSite) => (() => void) | undefined
}

const another = (site: SimulatedSite, than: SimulatedController): SimulatedController | undefined => {
  const others = site.controllers.filter((controller) => controller !== than && controller.member !== undefined)
  return others.length === 0 ? undefined : site.world.pick(others)
}
const leaderOf = (site: SimulatedSite): SimulatedController | undefined => site.controllers.find(({ leads }) => leads)
/** Mostly the one that leads. */
const someController = (site: SimulatedSite): SimulatedController =>
  (site.world.chance(0.7) ? leaderOf(site) : undefined) ?? site.world.pick(site.controllers)
const primaryOf = (site: SimulatedSite) => site.servers.find(({ role }) => role === 'primary')

/** Cuts packets between two sets of machines. */
function cut(
  site: SimulatedSite,
  from: readonly string[],
  to: readonly string[],
  state: LinkState,
  oneWay = false,
): () => void {
  for (const one of from)
    for (const other of to) {
      site.network.set(one, other, state)
      if (!oneWay) site.network.set(other, one, state)
    }
  return () => {
    for (const one of from)
      for (const other of to) {
        site.network.set(one, other, 'open')
        if (!oneWay) site.network.set(other, one, 'open')
      }
  }
}

const names = (of: readonly { name: string }[]): string[] => of.map(({ name }) => name)

/** A partition. @param state how packets end @param oneWay only those from the controller */
function partition(name: string, state: LinkState, oneWay: boolean, alsoPeers: boolean): Fault {
  return {
    name,
    begin: (site) => {
      const who = someController(site)
      const peers = site.controllers.filter((controller) => controller !== who)
      const database = cut(site, [who.name], names(site.servers), state, oneWay)
      const others = alsoPeers ? cut(site, [who.name], names(peers), state, oneWay) : () => undefined
      site.world.note('FAULT', `${name}: ${who.name}`)
      return () => {
        database()
        others()
      }
    },
  }
}

/** Sites whose database is changing its primary: one change at a time. */
const failingOver = new WeakSet<SimulatedSite>()

/** The old primary becomes the standby of the new one. */
function follow(site: SimulatedSite, old: PostgresServer, primary: PostgresServer): void {
  if (old.role !== 'down') old.crash()
  old.copy(primary)
  old.start('standby')
  primary.standbys = [old]
  primary.waitsFor = old.waitsFor
  site.world.note(old.name, 'is the standby now')
}

/** Everything that can happen to a site. */
export const faults: readonly Fault[] = [
  ...(['kill', 'switch off'] as const).map((name) => ({
    name,
    begin: (site: SimulatedSite) => {
      const who = someController(site)
      if (who.member === undefined) return undefined
      who.kill(name === 'switch off')
      return () => who.start()
    },
  })),
  ...(['frozen', 'suspended'] as const).map((how) => ({
    name: how,
    begin: (site: SimulatedSite) => {
      const { machine } = someController(site)
      if (!machine.isUp || machine.isStopped) return undefined
      machine.stop(how)
      site.world.note(machine.name, `is ${how}`)
      return () => {
        machine.resume()
        site.world.note(machine.name, 'goes on')
      }
    },
  })),
  partition('cut off, packets vanish', 'drop', false, true),
  partition('cut off, packets are refused', 'refuse', false, true),
  partition('cut off one way, packets vanish', 'drop', true, true),
  partition('cut off one way, packets are refused', 'refuse', true, true),
  partition('cut off from the database, packets vanish', 'drop', false, false),
  partition('cut off from the database, packets are refused', 'refuse', false, false),
  {
    name: 'cut off while another is switched off',
    begin: (site) => {
      const leader = leaderOf(site)
      const off = leader === undefined ? undefined : another(site, leader)
      if (leader === undefined || off === undefined) return undefined
      off.kill(true)
      const peers = site.controllers.filter((controller) => controller !== leader)
      let heal: (() => void) | undefined
      let isOver = false
      site.world.plan(site.world.between(500, 6_000), () => {
        if (isOver) return
        heal = cut(site, [leader.name], [...names(site.servers), ...names(peers)], site.world.pick(['drop', 'refuse']))
        site.world.note('FAULT', `${leader.name} is cut off`)
        site.world.plan(site.world.between(100, 2_000), () => off.member === undefined && off.start())
      })
      return () => {
        isOver = true
        heal?.()
        if (off.member === undefined) off.start()
      }
    },
  },
  {
    name: 'the next leader is cut off as it begins',
    begin: (site) => {
      const leader = leaderOf(site)
      const next = leader === undefined ? undefined : another(site, leader)
      if (leader === undefined || next === undefined) return undefined
      leader.kill(false)
      let heal: (() => void) | undefined
      let isOver = false
      // It waits before it answers: the leader before may still do so.
      site.world.plan(site.world.between(100, 700), () => {
        if (isOver) return
        const peers = site.controllers.filter((controller) => controller !== next)
        heal = cut(site, [next.name], [...names(site.servers), ...names(peers)], site.world.pick(['drop', 'refuse']))
        site.world.note('FAULT', `${next.name} is cut off`)
        site.world.plan(site.world.between(100, 2_000), () => leader.member === undefined && leader.start())
      })
      return () => {
        isOver = true
        heal?.()
        if (leader.member === undefined) leader.start()
      }
    },
  },
  {
    name: 'the disk of a controller is full',
    begin: (site) => {
      const { machine } = someController(site)
      machine.diskIsFull = true
      site.world.note('FAULT', `the disk of ${machine.name} is full`)
      return () => (machine.diskIsFull = false)
    },
  },
  ...([0, 2] as const).map((times) => ({
    name: times === 0 ? 'notices get lost' : 'notices come twice',
    begin: (site: SimulatedSite) => {
      const primary = primaryOf(site)
      if (primary === undefined) return undefined
      primary.noticesSent = times
      return () => (primary.noticesSent = 1)
    },
  })),
  {
    name: 'sessions of the leader end unheard',
    begin: (site) => {
      const [leader, primary] = [leaderOf(site), primaryOf(site)]
      if (leader === undefined || primary === undefined) return undefined
      site.network.set(primary.name, leader.name, 'drop')
      site.world.note('FAULT', `the sessions of ${leader.name} end, and it hears nothing`)
      for (const session of [...primary.sessions])
        if (session.client === leader.name) session.end('terminating connection due to administrator command')
      return () => site.network.set(primary.name, leader.name, 'open')
    },
  },
  {
    name: 'slow network',
    begin: (site) => {
      site.network.latency = site.world.pick([20, 100, 400])
      return () => void (site.network.latency = 1)
    },
  },
  {
    name: 'slow line',
    begin: (site) => {
      const who = someController(site)
      site.network.slow.set(who.name, site.world.pick([10, 30, 100, 400]))
      return () => void site.network.slow.delete(who.name)
    },
  },
  {
    name: 'slow database',
    begin: (site) => {
      const server = primaryOf(site)
      if (server === undefined) return undefined
      server.slowness = site.world.pick([20, 50, 200, 1_000])
      return () => void (server.slowness = 0.2)
    },
  },
  {
    name: 'clock step',
    begin: (site) => {
      const { machine } = site.world.pick(site.controllers)
      // Both clocks of one whose time stands still would tell that no time has passed: nobody could know (docs/operate/high-availability.md, Clocks).
      if (machine.stopped === 'suspended') return undefined
      site.schedules.forget()
      machine.stepClock(site.world.pick([-3_600_000, -5_000, 5_000, 3_600_000]))
      return () => undefined
    },
  },
  {
    name: 'database restarts',
    begin: (site) => {
      const server = primaryOf(site)
      if (server === undefined) return undefined
      server.crash()
      site.world.note(server.name, 'crashes')
      return () => {
        if (server.role !== 'down') return
        server.start()
        site.world.note(server.name, 'is back')
      }
    },
  },
  {
    name: 'nobody confirms',
    begin: (site) => {
      const server = primaryOf(site)
      if (server === undefined) return undefined
      server.waitsForNobody++
      site.world.note(server.name, "synchronous_standby_names = 'nobody'")
      return () => {
        server.waitsForNobody--
        server.changed()
      }
    },
  },
  {
    // The change of a room is on its way to the database when that stops to answer: whether it was stored is not known.
    name: 'the database does not answer as meetings begin',
    begin: (site) => {
      const server = primaryOf(site)
      const wait = site.untilMeetings()
      if (server === undefined || wait > 15_000) return undefined
      let stop: (() => void) | undefined
      let isOver = false
      site.world.plan(wait - site.world.between(0, 10), () => {
        if (isOver) return
        site.world.note(server.name, 'confirms nothing as meetings begin')
        server.waitsForNobody++
        stop = () => {
          stop = undefined
          server.waitsForNobody--
          server.changed()
        }
        site.world.plan(site.world.between(4_000, 9_000), () => stop?.())
      })
      return () => {
        isOver = true
        stop?.()
      }
    },
  },
  {
    // The standby is cut off, an operator cancels the waits for it, then it takes over without what was waiting.
    name: 'waits cancelled, then failover',
    begin: (site) => {
      const [primary, standby] = [primaryOf(site), site.servers.find(({ role }) => role === 'standby')]
      if (primary?.waitsFor !== 'any' || standby === undefined || failingOver.has(site)) return undefined
      failingOver.add(site)
      const { world } = site
      cut(site, [primary.name], [standby.name], 'drop')
      const cancel = (): void => {
        world.note(primary.name, 'all waits for the standby are cancelled')
        for (const session of [...primary.sessions]) if (session.busySince !== undefined) session.cancel()
      }
      for (const after of [800, 1_600, 2_400]) world.plan(after, cancel)
      let isOver = false
      world.plan(2_500, () => {
        if (isOver) return
        primary.crash()
        standby.promote()
        standby.waitsFor = undefined
        world.note(standby.name, 'takes over')
        if (!world.chance(0.5)) return
        // The rack lost its power: nobody remembers what the database has lost.
        for (const controller of site.controllers) if (controller.member !== undefined) controller.kill(false)
        world.plan(500, () => {
          for (const controller of site.controllers) if (controller.member === undefined) controller.start()
        })
      })
      return () => {
        isOver = true
        failingOver.delete(site)
        cut(site, [primary.name], [standby.name], 'drop')()
        if (standby.role === 'primary') follow(site, primary, standby)
      }
    },
  },
  {
    name: 'hand over',
    begin: (site) => {
      const leader = leaderOf(site)
      const to = leader === undefined ? undefined : another(site, leader)
      if (leader === undefined || to === undefined || leader.machine.isStopped) return undefined
      site.world.plan(0, () => void leader.handOver(to).catch(site.world.fail), leader.machine)
      return () => undefined
    },
  },
  {
    name: 'failover',
    begin: (site) => {
      const [primary, standby] = [primaryOf(site), site.servers.find(({ role }) => role === 'standby')]
      if (primary === undefined || standby === undefined || failingOver.has(site)) return undefined
      failingOver.add(site)
      // With a synchronous standby nothing that was confirmed is lost. Some clusters leave the old primary running: it can commit nothing more.
      const stays = primary.waitsFor === 'any' && site.world.chance(0.5)
      if (stays) primary.standbys = []
      else primary.crash()
      site.world.note(standby.name, stays ? `takes over; ${primary.name} stays, and can confirm nothing` : 'takes over')
      standby.promote()
      standby.waitsFor = undefined
      return () => {
        // Some old primaries stay until a person comes.
        if (stays && site.world.chance(0.7)) return
        failingOver.delete(site)
        follow(site, primary, standby)
      }
    },
  },
  {
    name: 'database goes back',
    loses: true,
    begin: (site) => {
      const primary = primaryOf(site)
      if (primary === undefined) return undefined
      const saved = primary.save()
      site.world.plan(site.world.between(200, 4_000), () => {
        if (primary.role !== 'primary') return
        site.world.note(primary.name, 'is put back to an older state')
        primary.putBack(saved)
      })
      return () => undefined
    },
  },
]
