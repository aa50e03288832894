import type { ControllersSite, SiteController } from './controllers-site.ts'

/** Hands the lead over as an operator's script does. @param told the controller that is asked. @returns how long its answer took, in milliseconds */
export async function handOver(site: ControllersSite, told: SiteController, next: SiteController): Promise<number> {
  const { items } = await told.headless.rpc('controllers.list', {})
  const id = items.find(({ name }) => name === next.name)?.id
  if (id === undefined)
    throw new Error(`Controller ${next.name} is not known: ${JSON.stringify(items)}${site.lastWords()}`)
  const began = performance.now()
  await told.headless.rpc('controllers.lead', { id })
  return performance.now() - began
}
