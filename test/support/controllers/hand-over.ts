import { setTimeout as sleep } from 'node:timers/promises'
import type { ControllersSite, SiteController } from '../sites/controllers-site.ts'

/** Maximum age of the last announcement of a controller that can take over, in milliseconds. */
const maxSilenceMs = 2_000
/** Time to wait for an announcement, in milliseconds; one comes every second. */
const waitMs = 10_000

/** Hands the lead over like an operator's script. @param receiver controller that gets the request. @returns the time until its answer, in milliseconds */
export async function handOver(site: ControllersSite, receiver: SiteController, next: SiteController): Promise<number> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const { items, known_at } = await receiver.headless.rpc('controllers.list', {})
    const item = items.find(({ name }) => name === next.name)
    if (item?.role === 'standby' && known_at - item.seen_at < maxSilenceMs) {
      const began = performance.now()
      await receiver.headless.rpc('controllers.lead', { id: item.id })
      return performance.now() - began
    }
    if (performance.now() > deadline)
      throw new Error(`Controller ${next.name} cannot lead: ${JSON.stringify(items)}${site.lastWords()}`)
    await sleep(50)
  }
}
