import { setTimeout as sleep } from 'node:timers/promises'
import type { ControllersSite, SiteController } from '../sites/controllers-site.ts'

/** A controller that was heard of within this time can take over, in milliseconds. */
const heardMs = 2_000
/** It says that it is there once a second. */
const waitMs = 10_000

/** Hands the lead over as an operator's script does. @param told the controller that is asked. @returns how long its answer took, in milliseconds */
export async function handOver(site: ControllersSite, told: SiteController, next: SiteController): Promise<number> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const { items, known_at } = await told.headless.rpc('controllers.list', {})
    const item = items.find(({ name }) => name === next.name)
    if (item?.role === 'standby' && known_at - item.seen_at < heardMs) {
      const began = performance.now()
      await told.headless.rpc('controllers.lead', { id: item.id })
      return performance.now() - began
    }
    if (performance.now() > deadline)
      throw new Error(`Controller ${next.name} cannot lead: ${JSON.stringify(items)}${site.lastWords()}`)
    await sleep(50)
  }
}
