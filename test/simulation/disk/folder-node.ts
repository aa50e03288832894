import type { CutChance, FileNode } from './file-node.ts'

/** A file or a folder. */
export type DiskNode = FileNode | FolderNode

/** A change of names that is not on the disk yet. */
interface NameChange {
  stamp: number
  /** For the trace. */
  text: string
  apply: (names: Map<string, DiskNode>) => void
}

/** A folder. A sync brings its names to the disk; at a power cut each change since then is there or is not, whatever became of the others. */
export class FolderNode {
  readonly kind = 'folder'
  mode: number
  #names = new Map<string, DiskNode>()
  #disk = new Map<string, DiskNode>()
  #changes: NameChange[] = []
  #stamp = 0

  constructor(mode: number) {
    this.mode = mode
  }

  get names(): ReadonlyMap<string, DiskNode> {
    return this.#names
  }

  get stamp(): number {
    return this.#stamp
  }

  get unsynced(): number {
    return this.#changes.length
  }

  set(name: string, node: DiskNode): void {
    this.#change(`+${name}`, (names) => names.set(name, node))
  }

  remove(name: string): void {
    this.#change(`-${name}`, (names) => names.delete(name))
  }

  /** Both names change together. */
  rename(from: string, to: string, node: DiskNode): void {
    this.#change(`${from}>${to}`, (names) => {
      if (names.get(from) === node) names.delete(from)
      names.set(to, node)
    })
  }

  persist(stamp: number): void {
    for (const change of this.#changes) if (change.stamp <= stamp) change.apply(this.#disk)
    this.#changes = this.#changes.filter((change) => change.stamp > stamp)
  }

  /** The power is cut. @returns what was lost, for the trace */
  cut(chance: CutChance): string[] {
    const lost: string[] = []
    for (const { apply, text } of this.#changes) {
      if (chance.isKept()) apply(this.#disk)
      else lost.push(text)
    }
    this.#changes = []
    this.#names = new Map(this.#disk)
    return lost
  }

  #change(text: string, apply: (names: Map<string, DiskNode>) => void): void {
    apply(this.#names)
    this.#changes.push({ stamp: ++this.#stamp, text, apply })
  }
}
