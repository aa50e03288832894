/** Properties of NAL unit types that decide where a picture begins and what it requires. */
export interface PictureUnits {
  /** Whether a unit is a part of a picture (VCL). */
  isPicture(type: number): boolean
  /** Whether a unit is the first slice of a picture. @param first byte after the unit's header */
  beginsPicture(type: number, first: number): boolean
  /**
   * Whether a unit that is not part of a picture precedes the picture that it belongs to (ITU-T H.264, section
   * 7.4.1.2.3; H.265, section 7.4.2.4.4).
   */
  precedesPicture(type: number): boolean
  isKey(type: number): boolean
  /** Types of parameter sets, in the order required by a decoder. */
  readonly parameterSets: readonly number[]
  /** Whether a type is defined; a decoder ignores other types. */
  isDefined(type: number): boolean
}

/** Whether the first bit is set: first_mb_in_slice is ue(v) 0, or first_slice_segment_in_pic_flag is 1. */
const firstBit = (first: number): boolean => (first & 0x80) !== 0

export const pictureUnits: Readonly<Record<'H264' | 'H265', PictureUnits>> = {
  // ITU-T H.264, table 7-1 and section 7.3.3.
  H264: {
    isPicture: (type) => type >= 1 && type <= 5,
    beginsPicture: (type, first) => (type === 1 || type === 2 || type === 5) && firstBit(first),
    precedesPicture: (type) => type >= 6 && type <= 9,
    isKey: (type) => type === 5,
    parameterSets: [7, 8],
    isDefined: (type) => type >= 1 && type <= 23,
  },
  // ITU-T H.265, table 7-1 and section 7.3.6.1.
  H265: {
    isPicture: (type) => type <= 31,
    beginsPicture: (type, first) => type <= 31 && firstBit(first),
    precedesPicture: (type) => (type >= 32 && type <= 35) || type === 39,
    isKey: (type) => type >= 16 && type <= 21,
    parameterSets: [32, 33, 34],
    isDefined: (type) => type <= 47,
  },
}
