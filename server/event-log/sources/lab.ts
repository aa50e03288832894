import type { FaultInForce } from '../../../shared/console/lab.ts'
import type { FaultRules } from '../../lab/faults.ts'
import type { EventSink } from '../event-log.ts'

/** Records fault rules of the lab that ended without the operator; their beginning is recorded as the operator's act. Returns the function that ends it. */
export function watchFaults(faults: Pick<FaultRules, 'list' | 'onChange'>, sink: EventSink): () => void {
  let before: readonly FaultInForce[] = faults.list()
  return faults.onChange(() => {
    const after = faults.list()
    const now = Date.now()
    for (const { operation, ends_at } of before) {
      const isOver = ends_at <= now && !after.some((rule) => rule.operation === operation && rule.ends_at === ends_at)
      const subject = { type: 'lab', id: 'faults', name: '' } as const
      if (isOver) sink.append({ kind: 'lab.faultEnded', subject, params: { operation } })
    }
    before = after
  })
}
