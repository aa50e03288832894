import type { Handlers, ProceduresOf } from './handlers.ts'
import type { ControllerWatch } from './site-controllers.ts'

/** Procedures on the controllers of the site: each controller lists them for itself, also as a replica. */
export function controllerHandlers(
  watch: Pick<ControllerWatch, 'list' | 'lead'>,
): Handlers<ProceduresOf<'controllers'>> {
  return {
    'controllers.list': () => watch.list(),
    'controllers.lead': ({ id }) => watch.lead(id),
  }
}
