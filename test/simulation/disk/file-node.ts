/** A disk writes one of these whole or not at all, in bytes. */
export const sectorBytes = 512

/** Something that is not on the disk itself yet. `stamp`: its place in the order of the file's changes. */
interface Pending<T> {
  stamp: number
  value: T
}

/** Chance at a power cut. */
export interface CutChance {
  /** Whether something that was not synced is on the disk all the same. */
  isKept: () => boolean
  /** A whole number from `from` to `to`. */
  between: (from: number, to: number) => number
}

/**
 * A file. Programs read and write its cache. A sync brings cached sectors and the size to the disk; at a power cut each sector and the size is left as any write since the last sync made
 * it, or as it was before.
 */
export class FileNode {
  readonly kind = 'file'
  mode: number
  #cache = Buffer.alloc(0)
  #size = 0
  #disk = Buffer.alloc(0)
  #diskSize = 0
  readonly #sectors = new Map<number, Pending<Buffer>[]>()
  #sizes: Pending<number>[] = []
  #stamp = 0
  /** Bytes that have room on the disk. */
  #allocated = 0

  constructor(mode: number) {
    this.mode = mode
  }

  get size(): number {
    return this.#size
  }

  /** Bytes that have room on the disk: writing over them needs none. */
  get allocated(): number {
    return this.#allocated
  }

  /** Stamp of the last change. */
  get stamp(): number {
    return this.#stamp
  }

  /** Sectors that are not on the disk yet. */
  get unsynced(): number {
    return this.#sectors.size + (this.#sizes.length > 0 ? 1 : 0)
  }

  read(at: number, length: number): Buffer {
    return Buffer.from(this.#cache.subarray(Math.min(at, this.#size), Math.min(at + length, this.#size)))
  }

  write(bytes: Buffer, at: number): void {
    if (bytes.length === 0) return
    this.#stamp++
    const end = at + bytes.length
    const before = this.#size
    this.#grow(end)
    bytes.copy(this.#cache, at)
    if (end > before) this.#resize(end)
    // A gap is zeros.
    this.#touch(Math.min(at, before), end)
    this.#allocated = Math.max(this.#allocated, end)
  }

  truncate(size: number): void {
    if (size === this.#size) return
    this.#stamp++
    const before = this.#size
    this.#grow(size)
    this.#cache.fill(0, Math.min(size, before), Math.max(size, before))
    this.#touch(Math.min(size, before), Math.max(size, before))
    this.#resize(size)
    this.#allocated = Math.min(this.#allocated, size)
  }

  /** Everything up to this stamp is on the disk: of the whole file, or of some bytes of it. */
  persist(stamp: number, from = 0, to = Number.POSITIVE_INFINITY): void {
    for (const sector of this.#sectorsOf(from, to)) {
      const last = this.#sectors.get(sector)?.findLast((version) => version.stamp <= stamp)
      if (last !== undefined) this.#store(sector, last.value)
      this.#forget(sector, stamp)
    }
    const size = this.#sizes.findLast((version) => version.stamp <= stamp)
    if (size !== undefined) this.#diskSize = size.value
    this.#sizes = this.#sizes.filter((version) => version.stamp > stamp)
  }

  /**
   * A sync fails: some of it is on the disk, and no later sync will bring the rest.
   * @param isDropped the cache is read from the disk again (btrfs, XFS); otherwise programs still see what is not there (ext4)
   */
  lose(stamp: number, { isKept }: CutChance, isDropped: boolean, from = 0, to = Number.POSITIVE_INFINITY): void {
    for (const sector of this.#sectorsOf(from, to)) {
      const versions = this.#sectors.get(sector) ?? []
      const last = versions.findLast((version) => version.stamp <= stamp)
      if (last !== undefined && isKept()) this.#store(sector, last.value)
      this.#forget(sector, stamp)
      if (!isDropped || this.#sectors.has(sector)) continue
      const at = sector * sectorBytes
      this.#cache.fill(0, at, Math.min(at + sectorBytes, this.#size))
      this.#disk.copy(this.#cache, at, at, Math.min(at + sectorBytes, this.#size))
    }
  }

  /** The power is cut. */
  cut(chance: CutChance): void {
    this.#diskSize = this.#sizeAfterCut(chance)
    for (const [sector, versions] of this.#sectors) {
      if (!chance.isKept()) continue
      const kept = versions[chance.between(0, versions.length - 1)]
      if (kept !== undefined) this.#store(sector, kept.value)
    }
    this.#sectors.clear()
    this.#sizes = []
    const whole = Buffer.alloc(this.#diskSize)
    this.#disk.copy(whole, 0, 0, this.#diskSize)
    this.#disk = whole
    this.#cache = Buffer.from(whole)
    this.#size = this.#diskSize
    this.#allocated = this.#diskSize
  }

  #sizeAfterCut({ isKept, between }: CutChance): number {
    if (this.#sizes.length === 0 || !isKept()) return this.#diskSize
    const sizes = [this.#diskSize, ...this.#sizes.map(({ value }) => value)]
    const picked = between(1, sizes.length - 1)
    const [before = 0, after = 0] = [sizes[picked - 1], sizes[picked]]
    // A long write may have come so far.
    return isKept() ? after : between(Math.min(before, after), Math.max(before, after))
  }

  #resize(size: number): void {
    this.#size = size
    this.#sizes.push({ stamp: this.#stamp, value: size })
  }

  #grow(size: number): void {
    if (size <= this.#cache.length) return
    const larger = Buffer.alloc(Math.max(size, 2 * this.#cache.length))
    this.#cache.copy(larger)
    this.#cache = larger
  }

  /** These bytes of the cache are newer than those of the disk. */
  #touch(from: number, to: number): void {
    const first = Math.floor(from / sectorBytes) * sectorBytes
    const copy = Buffer.alloc(Math.ceil(to / sectorBytes) * sectorBytes - first)
    this.#cache.copy(copy, 0, first, to)
    if (this.#cache.length > to) this.#cache.copy(copy, to - first, to, first + copy.length)
    for (let at = 0; at < copy.length; at += sectorBytes) {
      const sector = (first + at) / sectorBytes
      const versions = this.#sectors.get(sector) ?? []
      versions.push({ stamp: this.#stamp, value: copy.subarray(at, at + sectorBytes) })
      this.#sectors.set(sector, versions)
    }
  }

  #sectorsOf(from: number, to: number): number[] {
    const all = [...this.#sectors.keys()]
    return all.filter((sector) => (sector + 1) * sectorBytes > from && sector * sectorBytes < to)
  }

  #store(sector: number, bytes: Buffer): void {
    const at = sector * sectorBytes
    if (this.#disk.length < at + sectorBytes) {
      const larger = Buffer.alloc(Math.max(at + sectorBytes, 2 * this.#disk.length))
      this.#disk.copy(larger)
      this.#disk = larger
    }
    bytes.copy(this.#disk, at)
  }

  #forget(sector: number, stamp: number): void {
    const left = this.#sectors.get(sector)?.filter((version) => version.stamp > stamp) ?? []
    if (left.length > 0) this.#sectors.set(sector, left)
    else this.#sectors.delete(sector)
  }
}
