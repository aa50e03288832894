import { Gauge, type Registry } from 'prom-client'
import { figureNames, figureOf, metricName } from '../../../shared/console/figures.ts'
import type { FigureHistory } from './figure-history.ts'

/** Adds the exported figures, with the values of the last sample. */
export function addFigureGauges(registry: Registry, history: Pick<FigureHistory, 'latest'>): void {
  for (const figure of figureNames) {
    const { exported, node, help } = figureOf(figure)
    if (exported !== true) continue
    new Gauge({
      name: metricName(figure),
      help,
      labelNames: node === true ? ['node'] : [],
      registers: [registry],
      collect() {
        this.reset()
        for (const [name, values] of history.latest) {
          const value = values[figure]
          if (value === undefined || Number.isNaN(value)) continue
          if (node === true) this.set({ node: name }, value)
          else this.set(value)
        }
      },
    })
  }
}
