"""What the demo shop is made of. The shop, its goods and its people are invented; only the cities exist."""

SCHEMA = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL, joined_on TEXT NOT NULL);
CREATE TABLE products (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL, price_eur REAL NOT NULL, units_in_stock INTEGER NOT NULL
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id), ordered_on TEXT NOT NULL, status TEXT NOT NULL
);
CREATE TABLE order_items (
    order_id INTEGER NOT NULL REFERENCES orders (id), product_id INTEGER NOT NULL REFERENCES products (id), quantity INTEGER NOT NULL,
    PRIMARY KEY (order_id, product_id)
);
"""

GIVEN_NAMES = (
    "Abrel", "Bettan", "Corvin", "Dalira", "Emmeth", "Fenja", "Gorrel", "Hadewin", "Ilvane", "Jorrit", "Kelda", "Lunet",
    "Mirrow", "Nerys", "Ottel", "Perrin", "Quenna", "Rhosyn", "Sorrel", "Tavin", "Ulmera", "Vesper", "Wendrel", "Ysolde",
)  # fmt: skip
FAMILY_NAMES = (
    "Ashmarrow", "Brindlecot", "Cragwell", "Dunmere", "Elderfen", "Foxhollin", "Glimmerby", "Hartsedge", "Inkpenny", "Juniperay",
    "Kettlewick", "Larkmoor", "Mosswater", "Nettlefold", "Oakenby", "Pebblewyn", "Quarrelow", "Rushbeck", "Silverthwaite",
)  # fmt: skip
# a city as often as its share of the customers
CITIES = ("Lisbon", "Lisbon", "Lisbon", "Porto", "Porto", "Madrid", "Madrid", "Ghent", "Vienna", "Vienna", "Oslo", "Turin", "Turin", "Lyon")
STATUSES = ("delivered",) * 14 + ("shipped",) * 3 + ("returned",) * 2 + ("cancelled",)

# name, category, price in euros (a multiple of 0.25, so that sums are exact), units in stock
PRODUCTS = (
    ("Brightfell Lantern", "lighting", 34.50, 61),
    ("Harrow Head Torch", "lighting", 22.75, 118),
    ("Candlewick Tent Light", "lighting", 12.25, 204),
    ("Orrin Kettle", "kitchen", 28.00, 47),
    ("Tinder Stove", "kitchen", 79.50, 19),
    ("Fold-Flat Pan", "kitchen", 31.25, 73),
    ("Enamel Mug", "kitchen", 8.50, 312),
    ("Ridgeline Tent for Two", "tents", 189.00, 14),
    ("Ridgeline Tent for Four", "tents", 274.50, 8),
    ("Rain Fly", "tents", 46.75, 33),
    ("Peg Set", "tents", 9.75, 257),
    ("Dormouse Sleeping Bag", "sleeping", 96.00, 26),
    ("Otter Sleeping Mat", "sleeping", 54.25, 39),
    ("Travel Pillow", "sleeping", 17.50, 88),
    ("Wool Blanket", "sleeping", 62.00, 41),
    ("Heron Day Pack", "packs", 71.25, 36),
    ("Stork Trekking Pack", "packs", 148.00, 17),
    ("Dry Bag", "packs", 15.75, 142),
    ("Bramble Knife", "tools", 39.00, 55),
    ("Folding Saw", "tools", 26.25, 64),
    ("Field Compass", "tools", 18.25, 97),
    ("Repair Tape", "tools", 6.25, 281),
)

DOCUMENTS = {
    "about.md": """\
# About Quillhaven

Quillhaven sells equipment for people who sleep outdoors: lights, tents, stoves, packs and everything that keeps
them working. It began in 2009 as a repair bench in a boat shed and still repairs what it sells.

## The shop

There is one shop and one web shop. The shop has a workshop behind glass, where customers can watch repairs.

## Contact

Write to hello@quillhaven.example or ask at the counter. Letters are answered within two working days.
""",
    "opening-hours.md": """\
# Opening hours

The counter and the workshop keep different hours.

## Counter

- Monday to Thursday: 9:30 to 18:30
- Friday: 9:30 to 20:00
- Saturday: 10:00 to 16:30
- Sunday: closed

## Workshop

Tuesday to Friday, 13:00 to 17:00. No appointment is needed for anything that can be carried through the door.

## Holidays

The shop is closed for stocktaking on the first Monday of February.
""",
    "returns.md": """\
# Returns

An item that was not used can be returned within 45 days of delivery. The price is refunded in full.

## How to return an item

1. Write the order number on a slip and put it into the parcel.
2. Take the parcel to the counter, or send it. Postage back is free for orders that were delivered damaged.
3. The refund is made within a week of the parcel's arrival.

## What cannot be returned

Knives that were sharpened to order, opened repair tape and gift cards.
""",
    "shipping.md": """\
# Shipping

## Cost

Standard shipping costs 5.90 EUR. It is free for orders of 80 EUR or more. Express shipping costs 14.50 EUR, whatever the order.

## Time

Standard parcels take 3 to 5 working days, express parcels 1 working day when ordered before 11:00.

## Where to

The shop sends to all countries of the European Union, to Norway and to Switzerland. Tents for four travel as two parcels.
""",
    "warranty.md": """\
# Warranty

## How long

| goods | warranty |
|---|---|
| lanterns and torches | 30 months |
| tents | 60 months |
| stoves and kettles | 36 months |
| packs and sleeping bags | 48 months |

## What it covers

Faults of material and making. Worn tent pegs, burnt fabric and lost parts are not covered, but they can be repaired at cost.

## How to claim

Bring the item to the workshop, or send it with the order number. The workshop decides within 10 working days.
""",
    "repairs.md": """\
# Repairs

The workshop repairs anything that Quillhaven has ever sold, and most things that it has not.

## Prices

- A new zip: 19 EUR
- A patch on a tent or a pack: 11 EUR
- Sharpening a knife or a saw: 7 EUR
- Servicing a stove: 24 EUR

## Loans

While a tent is being repaired, its owner may borrow another one for up to 21 days.
""",
    "gift-cards.md": """\
# Gift cards

Gift cards are sold at the counter and in the web shop, for any amount from 15 EUR to 400 EUR.

A card is valid for 4 years from the day it was bought. It can be used in parts, and what is left stays on it.
A lost card is replaced once when the receipt is shown.
""",
    "club.md": """\
# The Night Owl Club

Membership costs 18 EUR a year.

## What members get

- 12 percent off everything but gift cards
- One free knife sharpening every year
- An invitation to the night walk on the last Friday of September

## Leaving

A membership ends by itself after a year unless it is renewed. Nothing has to be cancelled.
""",
}
