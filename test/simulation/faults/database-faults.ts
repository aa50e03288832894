import type { PostgresServer } from '../postgres/server.ts'
import type { SimulatedSite } from '../site/controller.ts'
import { cut, type Fault, leaderOf, primaryOf } from './fault.ts'

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

/** Faults of the database and of all connections to it. */
export const databaseFaults: readonly Fault[] = [
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
    name: 'slow database',
    begin: (site) => {
      const server = primaryOf(site)
      if (server === undefined) return undefined
      server.slowness = site.world.pick([20, 50, 200, 1_000])
      return () => void (server.slowness = 0.2)
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
