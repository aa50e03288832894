import type { SiteController } from '../cluster/site-controller.ts'
import type { Controller } from '../controller/controller.ts'
import type { ListenerName } from '../http/listeners.ts'

/** Returns the line that a controller prints when all its ports listen. */
export function readyLine(controller: Controller | SiteController): string {
  const url = (name: ListenerName): string => controller.listeners?.url(name) ?? ''
  const event = url('event') === '' ? {} : { event: url('event') }
  const { pid } = process
  const role = 'role' in controller ? { role: controller.role } : {}
  const content = {
    media: url('media'),
    device: url('device'),
    node: url('node'),
    console: url('console'),
    ...event,
    pid,
    ...role,
  }
  return `ready ${JSON.stringify(content)}`
}
