import { figureNames, figureOf, type FigureName } from '../../../shared/console/figures.ts'

/** One recorded series. */
export interface FigureColumn {
  readonly figure: FigureName
  /** Empty for figures that are recorded once. */
  readonly node: string
}

/** Maximum number of nodes with figures of their own: bounds the file. */
export const maxNodes = 8

/** Columns for these nodes, in the order of the table of figures. */
export function columnsFor(nodes: readonly string[]): FigureColumn[] {
  const shared = figureNames.filter((figure) => figureOf(figure).node !== true)
  const each = figureNames.filter((figure) => figureOf(figure).node === true)
  return [
    ...shared.map((figure) => ({ figure, node: '' })),
    ...nodes.flatMap((node) => each.map((figure) => ({ figure, node }))),
  ]
}

/** Key of a column, unique within a file. */
export function columnKey({ figure, node }: FigureColumn): string {
  return `${figure} ${node}`
}

/** The column of this name; undefined for a figure that this version does not record. */
export function columnOf(figure: string, node: string): FigureColumn | undefined {
  const name = figureNames.find((one) => one === figure)
  return name === undefined ? undefined : { figure: name, node }
}

/** Nodes that have columns, in their order. */
export function nodesOf(columns: readonly FigureColumn[]): string[] {
  return [...new Set(columns.map(({ node }) => node))].filter((node) => node !== '')
}
