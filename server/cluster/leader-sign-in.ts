import { monotonic, sleep } from '../store/system/time.ts'
import type { AccountSessions } from '../access/accounts/account-sessions.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { refused, resultOfError, statusOf } from '../console/console-answer.ts'
import type { LeaderEntrance } from '../console/entrance.ts'
import { bothCookies } from '../console/request-origin.ts'
import type { LeaderConsole } from './leader-console.ts'
import { clusterTimes } from '../store/election/timings.ts'

/** Signs users in and out at a replica. The leader checks, counts and stores; the replica passes its answer on. */
export function leaderSignIn(console: LeaderConsole, sessions: Pick<AccountSessions, 'check'>): LeaderEntrance {
  return {
    async signIn(offered, { client, browser }) {
      try {
        const { status, headers, body } = await console.ask('POST', '/session', client, {
          headers: { 'user-agent': browser },
          body: JSON.stringify(offered),
        })
        const retryAfter = headers['retry-after']
        const cookie = status === 204 ? cookieOf(headers['set-cookie']) : undefined
        if (cookie !== undefined) await isKnown(sessions, cookie)
        return { status, body: body === '' ? undefined : JSON.parse(body), retryAfter, cookie }
      } catch (error) {
        const body = resultOfError(error) ?? refused(refusal('leaderSilent'))
        return { status: statusOf.failed, body, retryAfter: undefined, cookie: undefined }
      }
    },
    async signOut(cookie, client) {
      // The browser has dropped the session already; one that the leader cannot be asked to end expires.
      const headers = { cookie: bothCookies(cookie) }
      await console.ask('DELETE', '/session', client, { headers }).catch(() => undefined)
    },
  }
}

function cookieOf(lines: string[] | undefined): string | undefined {
  return /^[\w-]+=([^;]+)/.exec(lines?.[0] ?? '')?.[1]
}

async function isKnown(sessions: Pick<AccountSessions, 'check'>, cookie: string): Promise<void> {
  const end = monotonic() + clusterTimes.readSession
  while (sessions.check(cookie) === undefined && monotonic() < end) await sleep(clusterTimes.readSessionCheck)
}
