/** Format in which the build writes a page of the docs: parsed Markdown, without HTML. */

/** Text within a line. */
export type InlinePart =
  | string
  | { kind: 'code'; text: string }
  | { kind: 'strong' | 'emphasis' | 'deleted'; parts: InlinePart[] }
  /** `to` is a path of the console (`/help/…`) or an absolute URL; undefined: the target is not part of the console. */
  | { kind: 'link'; to?: string; parts: InlinePart[] }
  | { kind: 'image'; src: string; text: string }
  | { kind: 'break' }

/** A heading; `id` is its anchor, unique on its page. */
export interface Heading {
  id: string
  depth: number
  text: string
}

export type Block =
  | (Heading & { kind: 'heading'; parts: InlinePart[] })
  | { kind: 'paragraph'; parts: InlinePart[] }
  | { kind: 'code'; language: string; text: string }
  | { kind: 'list'; ordered: boolean; start: number; items: Block[][] }
  | { kind: 'table'; head: InlinePart[][]; rows: InlinePart[][][] }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'rule' }

/** Title and headings of a page, without its text. */
export interface PageOutline {
  title: string
  /** Headings below the title, in order. */
  headings: Heading[]
}

export interface HelpPage extends PageOutline {
  /** Content below the title. */
  blocks: Block[]
}
